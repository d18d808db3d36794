/* driven_queue.h -- requests for ranges, in a queue that is driven as a read drives it. */
#ifndef REFS_TEST_DRIVEN_QUEUE_H
#define REFS_TEST_DRIVEN_QUEUE_H

#include <functional>
#include <memory>
#include <vector>

#include "refs/block.h"
#include "refs/queue.h"

class DrivenQueue {
  public:
    explicit DrivenQueue(const std::vector<refs_range> &ranges, bool isAhead = false)
        : requests_(ranges.size()), awaited_(new refs_awaited[ranges.size()]()) {
        for (size_t i = 0; i < ranges.size(); i++) {
            refs_request &request = requests_[i];
            request.is_optional = ranges[i].need == REFS_RANGE_OPTIONAL;
            request.is_present = true;
            request.max_size = ranges[i].max_length;
            request.ref.kind =
                ranges[i].length == REFS_FETCH_WHOLE ? REFS_REF_WHOLE : REFS_REF_RANGE;
            request.ref.location = ranges[i].location;
            request.ref.location_id = ranges[i].location_id;
            request.ref.offset = ranges[i].offset;
            request.ref.length = ranges[i].length;
            if (isAhead) request.awaited = &awaited_[i];
            if (i > 0) requests_[i - 1].next = &request;
        }
    }

    /** Says that a reader waits for a range that is prefetched. */
    void await(size_t i) { awaited_[i].is = true; }
    void expect(size_t i, const refs_expected &expected) { requests_[i].expected = expected; }

    /** Whether a range is still needed when it is offered, or comes along. */
    std::function<bool(size_t)> isNeeded = [](size_t) { return true; };
    std::function<refs_status(size_t, refs_bytes, refs_block *, refs_error *)> take;

    /** The range that the last failure was about, or SIZE_MAX. */
    size_t failed = SIZE_MAX;

    refs_status run(refs_fetcher *fetcher, refs_error *err) {
        refs_queue *queue = nullptr;
        failed = SIZE_MAX;
        refs_status status = refs_queue_open(fetcher, requests_.data(), &queue, err);
        while (status == REFS_OK && !refs_queue_is_done(queue)) status = drive(queue, err);
        if (status != REFS_OK && failed == SIZE_MAX && queue != nullptr)
            failed = indexOf(refs_queue_failed(queue));
        refs_queue_close(queue);
        return status;
    }

  private:
    size_t indexOf(const refs_request *request) const {
        return request != nullptr ? static_cast<size_t>(request - requests_.data()) : SIZE_MAX;
    }
    void claim(const refs_offer &offer) {
        for (size_t i = 0; i < offer.n; i++)
            offer.requests[i]->is_dropped = !isNeeded(indexOf(offer.requests[i]));
    }
    refs_status submit(refs_queue *queue, refs_error *err) {
        refs_offer offer, along;
        refs_status status = refs_queue_offer(queue, &offer, err);
        while (status == REFS_OK && offer.n > 0) {
            claim(offer);
            status = refs_submit(queue, &along, err);
            if (status == REFS_OK) claim(along);
            if (status == REFS_OK) status = refs_queue_offer(queue, &offer, err);
        }
        return status;
    }
    refs_status drive(refs_queue *queue, refs_error *err) {
        refs_request *finished = nullptr;
        refs_status status = submit(queue, err);
        if (status == REFS_OK) status = refs_next(queue, 50, &finished, err);
        for (; finished != nullptr; finished = finished->next) {
            const size_t i = indexOf(finished);
            if (status == REFS_OK && take != nullptr) {
                status = take(i, finished->bytes, finished->block, err);
                if (status != REFS_OK) failed = i;
            }
            refs_block_release(finished->block);
            finished->block = nullptr;
        }
        return status;
    }

    std::vector<refs_request> requests_;
    std::unique_ptr<refs_awaited[]> awaited_;
};

#endif

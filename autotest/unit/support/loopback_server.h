/* loopback_server.h -- an HTTP server in the test itself: strings by path, in byte ranges, over
 * connections that live on.
 *
 * The beginning of a path says how it is served: /flaky/ fails every second request for the same
 * bytes with 503, /status/429/ fails them so with the status it names, /moved/ leads to the path
 * behind it, /rangeless/ is only had whole, /shifted/ is answered with a range one byte further,
 * /cut/ claims a gibibyte and ends the connection after what there is, /broken/ ends it in the
 * middle of every second answer without a range, /changing/ has another ETag each time, /endless/
 * is digits without an end, /unsized/ has no Content-Length, /headers/ is nothing but headers,
 * /signed/ wants another signature than the first one that was made, and /held/ is answered when
 * the test says so.
 */
#ifndef REFS_TEST_LOOPBACK_SERVER_H
#define REFS_TEST_LOOPBACK_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

class LoopbackServer {
  public:
    LoopbackServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto *generic = reinterpret_cast<sockaddr *>(&address);
        if (bind(listener_, generic, size) != 0 || listen(listener_, 64) != 0 ||
            getsockname(listener_, generic, &size) != 0)
            throw std::runtime_error("no port to listen on");
        port_ = ntohs(address.sin_port);
        accepting_ = std::thread([this] { acceptAll(); });
    }
    ~LoopbackServer() {
        answerHeld();
        shutdown(listener_, SHUT_RDWR);
        accepting_.join();
        for (Serving &each : serving_) shutdown(each.connection, SHUT_RDWR);
        for (Serving &each : serving_) end(each);
        close(listener_);
    }
    LoopbackServer(const LoopbackServer &) = delete;
    LoopbackServer &operator=(const LoopbackServer &) = delete;

    /** Content by path; nothing may be added while requests are under way. */
    std::map<std::string, std::string> files;

    /** Connections that the other side has not ended. */
    int nConnected() const { return nConnected_; }

    /** Requests so far. */
    int nRequests() const { return nRequests_; }

    /** Bytes of answers that left for the other side, headers included. */
    uint64_t nBytes() const { return nBytes_; }

    /** Waits until `n` requests for what is held have come. */
    void awaitHeld(int n) {
        std::unique_lock<std::mutex> guard(lock_);
        moved_.wait(guard, [&] { return nHeld_ >= n; });
    }
    int nHeld() {
        const std::lock_guard<std::mutex> guard(lock_);
        return nHeld_;
    }

    /** Answers what is held, and all that will be asked for. */
    void answerHeld() {
        const std::lock_guard<std::mutex> guard(lock_);
        holds_ = false;
        moved_.notify_all();
    }

    std::string url(const std::string &path) const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }

  private:
    struct Request {
        std::string path;
        bool hasRange = false;
        size_t begin = 0, end = SIZE_MAX;
    };
    struct Serving {
        int connection;
        std::thread thread;
        std::atomic<bool> finished{false};
    };

    void acceptAll() {
        for (;;) {
            const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (connection < 0) return;
            const int now = 1;
            setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
            endFinished();
            Serving &added = serving_.emplace_back();
            added.connection = connection;
            added.thread = std::thread([this, connection, &added] {
                serve(connection);
                added.finished = true;
            });
        }
    }

    static void end(Serving &each) {
        each.thread.join();
        close(each.connection);
    }

    /** The stacks of threads take address space until then: of 32 bits too much; and connections
     * take descriptors. */
    void endFinished() {
        serving_.remove_if([](Serving &each) {
            const bool finished = each.finished;
            if (finished) end(each);
            return finished;
        });
    }

    void serve(int connection) {
        nConnected_++;
        std::string text;
        for (char part[4096];;) {
            const size_t end = text.find("\r\n\r\n");
            if (end != std::string::npos) {
                const Request request = requestOf(text.substr(0, end));
                nRequests_++;
                bool ends = false;
                const std::string answer = answerTo(request, ends);
                text.erase(0, end + 4);
                if (!sendAll(connection, answer) || ends) break;
                continue;
            }
            const ssize_t n = recv(connection, part, sizeof part, 0);
            if (n <= 0) break;
            text.append(part, static_cast<size_t>(n));
        }
        nConnected_--;
        shutdown(connection, SHUT_RDWR); /* closed at the end: its number must not come back */
    }

    /** In pieces, so that what the other side does not read is not counted. */
    bool sendAll(int connection, const std::string &answer) {
        for (size_t sent = 0; sent < answer.size();) {
            const size_t piece = std::min<size_t>(answer.size() - sent, 1 << 16);
            const ssize_t n = send(connection, answer.data() + sent, piece, MSG_NOSIGNAL);
            if (n < 0) return false;
            sent += static_cast<size_t>(n);
            nBytes_ += static_cast<uint64_t>(n);
        }
        return true;
    }

    static Request requestOf(const std::string &head) {
        Request request;
        const size_t from = head.find(' ') + 1;
        request.path = head.substr(from, head.find(' ', from) - from);
        const size_t range = head.find("Range: bytes=");
        if (range == std::string::npos) return request;
        char *rest = nullptr;
        request.hasRange = true;
        request.begin = strtoull(head.c_str() + range + 13, &rest, 10);
        const char *last = rest + 1;
        request.end = strtoull(last, &rest, 10) + 1;
        if (rest == last) request.end = SIZE_MAX;
        return request;
    }

    static bool take(std::string &path, const std::string &beginning) {
        if (path.rfind(beginning, 0) != 0) return false;
        path.erase(0, beginning.size() - 1);
        return true;
    }

    /** Every second time that it is asked of the same. */
    bool isFirst(const std::string &asked) {
        const std::lock_guard<std::mutex> guard(lock_);
        return nAsked_[asked]++ % 2 == 0;
    }

    static std::string digits(size_t size) {
        std::string text;
        while (text.size() < size) text += "0123456789";
        return text;
    }
    static std::string headers(size_t size) {
        std::string lines;
        while (lines.size() < size) lines += "X-Line: " + std::string(200, 'x') + "\r\n";
        return lines;
    }

    void hold() {
        std::unique_lock<std::mutex> guard(lock_);
        nHeld_++;
        moved_.notify_all();
        moved_.wait(guard, [&] { return !holds_; });
    }

    static std::string refusal(const std::string &status, const std::string &header = "") {
        return "HTTP/1.1 " + status + "\r\n" + header + "Content-Length: 0\r\n\r\n";
    }

    /** `ends` is set where the connection ends with the answer. */
    std::string answerTo(Request request, bool &ends) {
        std::string &path = request.path;
        const std::string query =
            path.find('?') != std::string::npos ? path.substr(path.find('?')) : std::string();
        path.erase(path.size() - query.size());
        if (take(path, "/flaky/") && isFirst(path + std::to_string(request.begin)))
            return refusal("503 Busy");
        if (take(path, "/status/")) {
            const std::string status = path.substr(1, 3);
            path.erase(0, 4);
            if (isFirst(status + path)) return refusal(status + " Refused");
        }
        if (take(path, "/moved/")) return refusal("302 Found", "Location: " + path + "\r\n");
        if (take(path, "/signed/") && query == "?first") return refusal("403 Forbidden");
        if (take(path, "/held/")) hold();
        if (take(path, "/rangeless/")) request.hasRange = false;
        if (take(path, "/shifted/")) {
            request.begin++;
            request.end++;
        }
        const bool cut = take(path, "/cut/"), unsized = take(path, "/unsized/");
        const bool changing = take(path, "/changing/");
        const bool broken = take(path, "/broken/") && !request.hasRange && isFirst(path);
        ends = cut || unsized || broken;
        if (take(path, "/endless/")) return "HTTP/1.1 200 OK\r\n\r\n" + digits(1 << 20);
        if (take(path, "/headers/")) return "HTTP/1.1 206 OK\r\n" + headers(1 << 20);
        const auto file = files.find(path);
        if (file == files.end()) return refusal("404 Not Found");
        const std::string &content = file->second;
        const std::string state = changing ? std::to_string(nRequests_) : "1";
        const std::string etag = "ETag: \"" + state + "\"\r\n";
        if (unsized) return "HTTP/1.1 200 OK\r\n" + etag + "Connection: close\r\n\r\n" + content;
        if (!request.hasRange)
            return "HTTP/1.1 200 OK\r\n" + etag +
                   "Content-Length: " + std::to_string(cut ? 1u << 30 : content.size()) +
                   "\r\n\r\n" + content.substr(0, broken ? content.size() / 2 : content.size());
        if (request.begin >= content.size()) return refusal("416 Range Not Satisfiable");
        const size_t end = std::min(request.end, content.size());
        return "HTTP/1.1 206 Partial Content\r\n" + etag +
               "Content-Length: " + std::to_string(end - request.begin) +
               "\r\nContent-Range: bytes " + std::to_string(request.begin) + "-" +
               std::to_string(end - 1) + "/" + std::to_string(content.size()) + "\r\n\r\n" +
               content.substr(request.begin, end - request.begin);
    }

    int listener_, port_ = 0;
    std::atomic<int> nConnected_{0}, nRequests_{0};
    std::atomic<uint64_t> nBytes_{0};
    std::mutex lock_; /* guards what follows */
    std::condition_variable moved_;
    std::map<std::string, unsigned> nAsked_;
    int nHeld_ = 0;
    bool holds_ = true;
    /* of the accepting thread while it lives */
    std::list<Serving> serving_;
    std::thread accepting_;
};

#endif

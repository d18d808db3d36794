/* range_server.h -- the loopback HTTP server of autotest/server, run as a child of a test. */
#ifndef REFS_RANGE_SERVER_H
#define REFS_RANGE_SERVER_H

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace refs_test {

/** One line of the server's log. */
struct ServedRequest {
    std::string method, path, range;
    int status;
    int64_t bytes;
};

/** Serves a folder from construction to destruction. */
class RangeServer {
  public:
    /** `options` are those of range_server.py; `name` tells servers of one test apart. */
    explicit RangeServer(const std::string &folder, const std::vector<std::string> &options = {},
                         const std::string &name = "");
    ~RangeServer();
    RangeServer(const RangeServer &) = delete;
    RangeServer &operator=(const RangeServer &) = delete;

    /** The URL of a file in the folder. */
    std::string url(const std::string &file) const;

    /** What was asked for so far, in order. */
    std::vector<ServedRequest> requests() const;

  private:
    std::string log_path_;
    std::string scheme_;
    pid_t process_;
    int input_; /**< the server runs until this is closed */
    int port_ = 0;
};

} // namespace refs_test

#endif

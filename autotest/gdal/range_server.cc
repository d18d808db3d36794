/* range_server.cc -- see range_server.h. */
#include "range_server.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace refs_test {

namespace {

/** Becomes the server. Never returns. */
[[noreturn]] void become_server(int input, int output, const std::vector<std::string> &arguments) {
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    std::vector<char *> list;
    for (const std::string &argument : arguments)
        list.push_back(const_cast<char *>(argument.c_str()));
    list.push_back(nullptr);
    execv(list[0], list.data());
    _exit(127);
}

} // namespace

RangeServer::RangeServer(const std::string &folder, const std::vector<std::string> &options,
                         const std::string &name)
    : log_path_(testing::TempDir() + "refs-server-" + std::to_string(getpid()) + name + ".log"),
      scheme_(std::count(options.begin(), options.end(), "--tls") > 0 ? "https" : "http") {
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
        throw std::runtime_error("no pipes");
    std::vector<std::string> arguments = {REFS_TEST_PYTHON, REFS_SERVER, folder, log_path_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    process_ = fork();
    if (process_ == 0) become_server(input[0], output[1], arguments);
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    FILE *answer = fdopen(output[0], "r");
    if (fscanf(answer, "%d", &port_) != 1) port_ = 0;
    fclose(answer);
    EXPECT_NE(port_, 0) << "the server does not start";
}

RangeServer::~RangeServer() {
    close(input_);
    waitpid(process_, nullptr, 0);
    std::remove(log_path_.c_str());
}

std::string RangeServer::url(const std::string &file) const {
    return scheme_ + "://127.0.0.1:" + std::to_string(port_) + "/" + file;
}

std::vector<ServedRequest> RangeServer::requests() const {
    std::vector<ServedRequest> list;
    std::ifstream log(log_path_);
    for (std::string line; std::getline(log, line);) {
        ServedRequest request;
        std::istringstream fields(line);
        std::getline(fields, request.method, '\t');
        std::getline(fields, request.path, '\t');
        std::getline(fields, request.range, '\t');
        fields >> request.status >> request.bytes;
        list.push_back(request);
    }
    return list;
}

} // namespace refs_test

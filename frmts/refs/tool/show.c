#include "tool.h"
tool_exit tool_ls(const tool_arguments *arguments) {
    (void)arguments;
    return TOOL_FAILED;
}
tool_exit tool_info(const tool_arguments *arguments) {
    (void)arguments;
    return TOOL_FAILED;
}
tool_exit tool_cat(const tool_arguments *arguments) {
    (void)arguments;
    return TOOL_FAILED;
}

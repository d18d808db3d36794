#include "tool.h"
tool_exit tool_diff(const tool_arguments *arguments) {
    (void)arguments;
    return TOOL_FAILED;
}

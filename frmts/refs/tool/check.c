#include "tool.h"
tool_exit tool_check(const tool_arguments *arguments) {
    (void)arguments;
    return TOOL_FAILED;
}

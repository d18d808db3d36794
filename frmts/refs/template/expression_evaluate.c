/* expression_evaluate.c -- nodes -> values, see expression.h. */
#include "expression_items.h"

static refs_status evaluate(const refs_evaluation *e, uint32_t id, refs_value *value,
                            refs_error *err) {
    return refs_template__expression_evaluate(e, id, value, err);
}

static bool find_name(const refs_evaluation *e, refs_str name, refs_value *value) {
    for (size_t i = 0; i < e->scope->n; i++) {
        if (!refs_str_equal(e->scope->bindings[i].name, name)) continue;
        *value = e->scope->bindings[i].value;
        return true;
    }
    return e->scope->find != NULL && e->scope->find(e->scope->user, name, value);
}

static refs_status evaluate_name(const refs_evaluation *e, refs_str name, refs_value *value,
                                 refs_error *err) {
    if (find_name(e, name, value)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "\"%.*s\" is not defined", REFS_STR_ARG(name));
}

/* As evaluate, where *defined tells of a name or an item whether there is one. */
static refs_status evaluate_defined(const refs_evaluation *e, uint32_t id, refs_value *value,
                                    bool *defined, refs_error *err) {
    const refs_node *node = &e->expressions->nodes[id];
    refs_value container, index;
    *defined = true;
    if (node->op == REFS_OP_NAME) {
        *defined = find_name(e, node->name, value);
        return REFS_OK;
    }
    if (node->op != REFS_OP_ITEM) return evaluate(e, id, value, err);
    REFS_TRY(evaluate(e, node->operand[0], &container, err));
    REFS_TRY(evaluate(e, node->operand[1], &index, err));
    return refs_template__item(&container, &index, value, defined, err);
}

static refs_status evaluate_item(const refs_evaluation *e, uint32_t id, refs_value *value,
                                 refs_error *err) {
    bool defined;
    REFS_TRY(evaluate_defined(e, id, value, &defined, err));
    return defined ? REFS_OK : refs_fail(err, REFS_INVALID, "there is no such item");
}

static refs_status evaluate_slice(const refs_evaluation *e, const refs_node *node,
                                  refs_value *value, refs_error *err) {
    const refs_node *nodes = e->expressions->nodes;
    refs_value container, bounds[3];
    REFS_TRY(evaluate(e, node->operand[0], &container, err));
    uint32_t id = node->operand[1];
    for (size_t i = 0; i < 3; i++, id = nodes[id].operand[1]) {
        bounds[i] = (refs_value){.kind = REFS_VALUE_NONE};
        if (nodes[id].operand[0] != REFS_NODE_NONE)
            REFS_TRY(evaluate(e, nodes[id].operand[0], &bounds[i], err));
    }
    return refs_template__slice(&container, bounds, e->scratch, value, err);
}

static refs_status evaluate_sign(const refs_evaluation *e, const refs_node *node, refs_value *value,
                                 refs_error *err) {
    refs_value operands[2] = {refs_value_integer(0)};
    REFS_TRY(evaluate(e, node->operand[0], &operands[1], err));
    if (node->op == REFS_OP_NEGATE && operands[1].kind == REFS_VALUE_FLOAT) {
        *value = refs_value_float(-operands[1].number);
        return REFS_OK;
    }
    refs_op op = node->op == REFS_OP_NEGATE ? REFS_OP_SUBTRACT : REFS_OP_ADD;
    return refs_template__apply_operator(operands, op, e->scratch, value, err);
}

static refs_status evaluate_binary(const refs_evaluation *e, const refs_node *node,
                                   refs_value *value, refs_error *err) {
    refs_value operands[2];
    REFS_TRY(evaluate(e, node->operand[0], &operands[0], err));
    REFS_TRY(evaluate(e, node->operand[1], &operands[1], err));
    return refs_template__apply_operator(operands, node->op, e->scratch, value, err);
}

/* and, or, if: operands that do not matter are not computed. */
static refs_status evaluate_choice(const refs_evaluation *e, const refs_node *node,
                                   refs_value *value, refs_error *err) {
    if (node->op == REFS_OP_IF) {
        REFS_TRY(evaluate(e, node->operand[1], value, err));
        if (refs_value_truth(value)) return evaluate(e, node->operand[0], value, err);
        *value = refs_value_text(refs_str_view("", 0));
        return node->operand[2] == REFS_NODE_NONE ? REFS_OK
                                                  : evaluate(e, node->operand[2], value, err);
    }
    REFS_TRY(evaluate(e, node->operand[0], value, err));
    if (refs_value_truth(value) == (node->op == REFS_OP_OR)) return REFS_OK;
    return evaluate(e, node->operand[1], value, err);
}

typedef struct arguments {
    refs_binding *items;
    size_t n;
} arguments;

/* Computes a list of arguments that follow `n_before` others, for which it leaves room. */
static refs_status evaluate_arguments(const refs_evaluation *e, uint32_t first, size_t n_before,
                                      arguments *args, refs_error *err) {
    const refs_node *nodes = e->expressions->nodes;
    void *memory;
    args->n = n_before;
    for (uint32_t id = first; id != REFS_NODE_NONE; id = nodes[id].operand[1]) args->n++;
    REFS_TRY(refs_value_scratch_take(e->scratch, args->n * sizeof *args->items, &memory, err));
    args->items = memory;
    for (size_t i = n_before; i < args->n; i++, first = nodes[first].operand[1]) {
        args->items[i].name = nodes[first].name;
        REFS_TRY(evaluate(e, nodes[first].operand[0], &args->items[i].value, err));
    }
    return REFS_OK;
}

static refs_status evaluate_tuple(const refs_evaluation *e, const refs_node *node,
                                  refs_value *value, refs_error *err) {
    arguments args;
    void *memory;
    REFS_TRY(evaluate_arguments(e, node->operand[0], 0, &args, err));
    REFS_TRY(refs_value_scratch_take(e->scratch, args.n * sizeof(refs_value), &memory, err));
    refs_value *items = memory;
    for (size_t i = 0; i < args.n; i++) items[i] = args.items[i].value;
    const refs_value_kind kind = node->op == REFS_OP_TUPLE  ? REFS_VALUE_TUPLE
                                 : node->op == REFS_OP_LIST ? REFS_VALUE_LIST
                                                            : REFS_VALUE_DICTIONARY;
    *value = (refs_value){.kind = kind, .tuple = {items, args.n}};
    return REFS_OK;
}

static refs_status evaluate_call(const refs_evaluation *e, const refs_node *node, refs_value *value,
                                 refs_error *err) {
    refs_value callee;
    refs_scope scope = {0};
    arguments args;
    refs_str text;
    if (evaluate_name(e, node->name, &callee, NULL) != REFS_OK)
        return refs_fail(err, REFS_UNSUPPORTED, "there is no template \"%.*s\" to be called",
                         REFS_STR_ARG(node->name));
    if (callee.kind != REFS_VALUE_TEMPLATE)
        return refs_fail(err, REFS_INVALID, "\"%.*s\" takes no arguments",
                         REFS_STR_ARG(node->name));
    REFS_TRY(evaluate_arguments(e, node->operand[0], 0, &args, err));
    for (size_t i = 0; i < args.n; i++)
        if (args.items[i].name.size == 0)
            return refs_fail(err, REFS_INVALID, "arguments of \"%.*s\" need names",
                             REFS_STR_ARG(node->name));
    scope.bindings = args.items;
    scope.n = args.n;
    REFS_TRY(e->call(e, callee.callee, &scope, &text, err));
    *value = refs_value_text(text);
    return REFS_OK;
}

/* What a filter, test or method is called in messages, and the function of it; NULL where there is
 * none. */
static refs_text_function find_function(const refs_node *node, const char **what) {
    *what = node->op == REFS_OP_FILTER ? "filter" : node->op == REFS_OP_TEST ? "test" : "method";
    if (node->op == REFS_OP_FILTER) return refs_template__find_filter(node->name);
    if (node->op == REFS_OP_TEST) return refs_template__find_test(node->name);
    return refs_template__find_method(node->name);
}

static refs_status evaluate_function(const refs_evaluation *e, const refs_node *node,
                                     refs_value *value, refs_error *err) {
    const char *what;
    refs_text_function function = find_function(node, &what);
    if (function == NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "%s \"%.*s\" is not supported", what,
                         REFS_STR_ARG(node->name));
    arguments args;
    REFS_TRY(evaluate_arguments(e, node->operand[1], 1, &args, err));
    args.items[0].name = refs_str_view("", 0);
    REFS_TRY(evaluate(e, node->operand[0], &args.items[0].value, err));
    if (node->op == REFS_OP_METHOD && args.items[0].value.kind != REFS_VALUE_TEXT)
        return refs_fail(err, REFS_INVALID, "%s has no method \"%.*s\"",
                         refs_value_kind_text(args.items[0].value.kind), REFS_STR_ARG(node->name));
    return function(args.items, args.n, e->scratch, value, err);
}

/* a|default(b), or a|default(b, true) where b takes the place of what is false too. */
static refs_status evaluate_default(const refs_evaluation *e, const refs_node *node,
                                    refs_value *value, refs_error *err) {
    static const char *const names[] = {"default_value", "boolean", NULL};
    const refs_value *taken[2];
    arguments args;
    bool defined;
    REFS_TRY(evaluate_arguments(e, node->operand[1], 1, &args, err));
    REFS_TRY(refs_template__take_arguments(args.items, args.n, names, taken, err));
    REFS_TRY(evaluate_defined(e, node->operand[0], value, &defined, err));
    const bool of_truth = taken[1] != NULL && refs_value_truth(taken[1]);
    if (defined && (!of_truth || refs_value_truth(value))) return REFS_OK;
    *value = taken[0] != NULL ? *taken[0] : refs_value_text(refs_str_view("", 0));
    return REFS_OK;
}

static refs_status evaluate_called(const refs_evaluation *e, const refs_node *node,
                                   refs_value *value, refs_error *err) {
    const bool filter = node->op == REFS_OP_FILTER, test = node->op == REFS_OP_TEST;
    if (filter && (refs_str_is(node->name, "default") || refs_str_is(node->name, "d")))
        return evaluate_default(e, node, value, err);
    const bool asks = test && refs_str_is(node->name, "defined");
    if (!asks && !(test && refs_str_is(node->name, "undefined")))
        return evaluate_function(e, node, value, err);
    bool defined;
    refs_value ignored;
    REFS_TRY(evaluate_defined(e, node->operand[0], &ignored, &defined, err));
    *value = refs_value_bool(defined == asks);
    return REFS_OK;
}

refs_status refs_template__expression_evaluate(const refs_evaluation *e, uint32_t root,
                                               refs_value *value, refs_error *err) {
    const refs_node *node = &e->expressions->nodes[root];
    switch (node->op) {
    case REFS_OP_LITERAL:
        *value = node->value;
        return REFS_OK;
    case REFS_OP_NAME:
        return evaluate_name(e, node->name, value, err);
    case REFS_OP_TUPLE:
    case REFS_OP_LIST:
    case REFS_OP_DICTIONARY:
        return evaluate_tuple(e, node, value, err);
    case REFS_OP_NOT:
        REFS_TRY(evaluate(e, node->operand[0], value, err));
        *value = refs_value_bool(!refs_value_truth(value));
        return REFS_OK;
    case REFS_OP_NEGATE:
    case REFS_OP_PLUS:
        return evaluate_sign(e, node, value, err);
    case REFS_OP_AND:
    case REFS_OP_OR:
    case REFS_OP_IF:
        return evaluate_choice(e, node, value, err);
    case REFS_OP_CALL:
        return evaluate_call(e, node, value, err);
    case REFS_OP_FILTER:
    case REFS_OP_TEST:
    case REFS_OP_METHOD:
        return evaluate_called(e, node, value, err);
    case REFS_OP_ITEM:
        return evaluate_item(e, root, value, err);
    case REFS_OP_SLICE:
        return evaluate_slice(e, node, value, err);
    default:
        return evaluate_binary(e, node, value, err);
    }
}

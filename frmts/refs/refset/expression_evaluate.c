/* expression_evaluate.c -- nodes -> values, see expression.h. */
#include "expression.h"

#include "template.h"

static refs_status evaluate(const refs_evaluation *e, uint32_t id, refs_value *value,
                            refs_error *err) {
    return refs_refset__expression_evaluate(e, id, value, err);
}

static refs_status evaluate_name(const refs_evaluation *e, refs_str name, refs_value *value,
                                 refs_error *err) {
    for (size_t i = 0; i < e->scope->n; i++) {
        if (!refs_str_equal(e->scope->bindings[i].name, name)) continue;
        *value = e->scope->bindings[i].value;
        return REFS_OK;
    }
    if (e->scope->find != NULL && e->scope->find(e->scope->user, name, value)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "\"%.*s\" is not defined", REFS_STR_ARG(name));
}

static refs_status evaluate_sign(const refs_evaluation *e, const refs_node *node, refs_value *value,
                                 refs_error *err) {
    refs_value operands[2] = {refs_refset__integer(0)};
    REFS_TRY(evaluate(e, node->operand[0], &operands[1], err));
    if (node->op == REFS_OP_NEGATE && operands[1].kind == REFS_VALUE_FLOAT) {
        *value = refs_refset__float(-operands[1].number);
        return REFS_OK;
    }
    refs_op op = node->op == REFS_OP_NEGATE ? REFS_OP_SUBTRACT : REFS_OP_ADD;
    return refs_refset__apply_operator(operands, op, e->scratch, value, err);
}

static refs_status evaluate_binary(const refs_evaluation *e, const refs_node *node,
                                   refs_value *value, refs_error *err) {
    refs_value operands[2];
    REFS_TRY(evaluate(e, node->operand[0], &operands[0], err));
    REFS_TRY(evaluate(e, node->operand[1], &operands[1], err));
    return refs_refset__apply_operator(operands, node->op, e->scratch, value, err);
}

/* and, or, if: operands that do not matter are not computed. */
static refs_status evaluate_choice(const refs_evaluation *e, const refs_node *node,
                                   refs_value *value, refs_error *err) {
    if (node->op == REFS_OP_IF) {
        REFS_TRY(evaluate(e, node->operand[1], value, err));
        if (refs_refset__truth(value)) return evaluate(e, node->operand[0], value, err);
        *value = refs_refset__text(refs_str_view("", 0));
        return node->operand[2] == REFS_NODE_NONE ? REFS_OK
                                                  : evaluate(e, node->operand[2], value, err);
    }
    REFS_TRY(evaluate(e, node->operand[0], value, err));
    if (refs_refset__truth(value) == (node->op == REFS_OP_OR)) return REFS_OK;
    return evaluate(e, node->operand[1], value, err);
}

/* Computes a list of arguments that follow `n_before` others, for which it leaves room. */
static refs_status evaluate_arguments(const refs_evaluation *e, uint32_t first, size_t n_before,
                                      refs_binding **args, size_t *n, refs_error *err) {
    const refs_node *nodes = e->expressions->nodes;
    void *memory;
    *n = n_before;
    for (uint32_t id = first; id != REFS_NODE_NONE; id = nodes[id].operand[1]) ++*n;
    REFS_TRY(refs_refset__scratch_take(e->scratch, *n * sizeof **args, &memory, err));
    *args = memory;
    for (size_t i = n_before; i < *n; i++, first = nodes[first].operand[1]) {
        (*args)[i].name = nodes[first].name;
        REFS_TRY(evaluate(e, nodes[first].operand[0], &(*args)[i].value, err));
    }
    return REFS_OK;
}

static refs_status evaluate_tuple(const refs_evaluation *e, const refs_node *node,
                                  refs_value *value, refs_error *err) {
    refs_binding *args;
    size_t n;
    void *memory;
    REFS_TRY(evaluate_arguments(e, node->operand[0], 0, &args, &n, err));
    REFS_TRY(refs_refset__scratch_take(e->scratch, n * sizeof(refs_value), &memory, err));
    refs_value *items = memory;
    for (size_t i = 0; i < n; i++) items[i] = args[i].value;
    *value = (refs_value){.kind = REFS_VALUE_TUPLE, .tuple = {items, n}};
    return REFS_OK;
}

static refs_status evaluate_call(const refs_evaluation *e, const refs_node *node, refs_value *value,
                                 refs_error *err) {
    refs_value callee;
    refs_scope scope = {0};
    refs_binding *args;
    refs_str text;
    if (evaluate_name(e, node->name, &callee, NULL) != REFS_OK)
        return refs_fail(err, REFS_UNSUPPORTED, "there is no template \"%.*s\" to be called",
                         REFS_STR_ARG(node->name));
    if (callee.kind != REFS_VALUE_TEMPLATE)
        return refs_fail(err, REFS_INVALID, "\"%.*s\" takes no arguments",
                         REFS_STR_ARG(node->name));
    REFS_TRY(evaluate_arguments(e, node->operand[0], 0, &args, &scope.n, err));
    for (size_t i = 0; i < scope.n; i++)
        if (args[i].name.size == 0)
            return refs_fail(err, REFS_INVALID, "arguments of \"%.*s\" need names",
                             REFS_STR_ARG(node->name));
    scope.bindings = args;
    REFS_TRY(
        refs_refset__template_call(callee.callee, &scope, e->scratch, e->depth + 1, &text, err));
    *value = refs_refset__text(text);
    return REFS_OK;
}

static refs_status evaluate_function(const refs_evaluation *e, const refs_node *node,
                                     refs_value *value, refs_error *err) {
    bool filter = node->op == REFS_OP_FILTER;
    refs_text_function function =
        (filter ? refs_refset__find_filter : refs_refset__find_method)(node->name);
    if (function == NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "%s \"%.*s\" is not supported",
                         filter ? "filter" : "method", REFS_STR_ARG(node->name));
    refs_binding *args;
    size_t n;
    REFS_TRY(evaluate_arguments(e, node->operand[1], 1, &args, &n, err));
    args[0].name = refs_str_view("", 0);
    REFS_TRY(evaluate(e, node->operand[0], &args[0].value, err));
    if (!filter && args[0].value.kind != REFS_VALUE_TEXT)
        return refs_fail(err, REFS_INVALID, "%s has no method \"%.*s\"",
                         refs_refset__kind_text(args[0].value.kind), REFS_STR_ARG(node->name));
    return function(args, n, e->scratch, value, err);
}

refs_status refs_refset__expression_evaluate(const refs_evaluation *e, uint32_t root,
                                             refs_value *value, refs_error *err) {
    const refs_node *node = &e->expressions->nodes[root];
    switch (node->op) {
    case REFS_OP_LITERAL:
        *value = node->value;
        return REFS_OK;
    case REFS_OP_NAME:
        return evaluate_name(e, node->name, value, err);
    case REFS_OP_TUPLE:
        return evaluate_tuple(e, node, value, err);
    case REFS_OP_NOT:
        REFS_TRY(evaluate(e, node->operand[0], value, err));
        *value = refs_refset__bool(!refs_refset__truth(value));
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
    case REFS_OP_METHOD:
        return evaluate_function(e, node, value, err);
    default:
        return evaluate_binary(e, node, value, err);
    }
}

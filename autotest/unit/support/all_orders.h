/* all_orders.h -- all orders in which several things can be opened, read and closed. */
#ifndef REFS_TEST_ALL_ORDERS_H
#define REFS_TEST_ALL_ORDERS_H

#include <algorithm>
#include <string>
#include <vector>

/** "010122…": whose turn it is, each digit three times: to be opened, to be read, to be closed. */
inline std::vector<std::string> allOrders(int n) {
    std::string order;
    for (int i = 0; i < n; i++) order += std::string(3, static_cast<char>('0' + i));
    std::vector<std::string> orders;
    do orders.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return orders;
}

/** Takes the steps of an order: `turns[i]` counts what was done with thing i. */
template <class Open, class Read, class Close>
void takeTurns(const std::string &order, Open open, Read read, Close close) {
    std::vector<int> turns(order.size() / 3, 0);
    for (const char digit : order) {
        const auto i = static_cast<size_t>(digit - '0');
        const int turn = turns[i]++;
        if (turn == 0)
            open(i);
        else if (turn == 1)
            read(i);
        else
            close(i);
    }
}

#endif

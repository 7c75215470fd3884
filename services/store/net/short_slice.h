#pragma once

namespace apimesh::store {

/// Asks the scheduler for short turns for the calling thread: the same share of the CPU, but when there is work for
/// it, it does not wait until the turn of whoever computes is over. For threads that work briefly and wait often.
/// Linux 6.12 and later listen; nothing happens elsewhere.
void TakeShortTurns();

}  // namespace apimesh::store

#pragma once

namespace apimesh::store {

/// Requests short time slices from the scheduler for the calling thread. Its share of the CPU does not change, but when
/// it becomes runnable, it does not have to wait until a running thread has used up its time slice. Use it for threads
/// that run briefly and wait often. It has an effect on Linux 6.12 and later.
void UseShortTimeSlices();

}  // namespace apimesh::store

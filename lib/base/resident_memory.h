#pragma once

namespace apimesh {

/// Limits the number of malloc arenas, because a mesh process has more threads than it keeps busy, and each arena
/// retains its own pages. Must be called at the start of main(), before there are threads.
void KeepFewArenas();

/// Releases memory that was needed only during the start: free heap, and the mapped pages of code and constants, which
/// stay in the page cache and are mapped again one by one when they are used. It takes about a millisecond and may be
/// called from any thread.
void ReleaseIdlePages();

}  // namespace apimesh

#pragma once

namespace apimesh {

/// For the start of main(), before there are threads: few malloc arenas, because a process of the mesh has more threads than it keeps busy, and each
/// arena keeps pages of its own.
void KeepFewArenas();

/// Gives back what only the start needed: free heap, and the mapped pages of code and constants, which stay in the page
/// cache and come back one by one when they are used again. Cheap (about a millisecond), callable from any thread.
void ReleaseIdlePages();

}  // namespace apimesh

// Compiles the precompiled header; see pch.h.

// Compiled with the precompiled headers of the standard library, so that some target owns them (CMakeLists.txt).

// Nothing but GoogleTest's headers, which the test programs share precompiled (cmake/HeadraceTest.cmake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

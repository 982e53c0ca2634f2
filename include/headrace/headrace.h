// All of headrace's public C++ interface.
#pragma once

#include "headrace/batch.h"
#include "headrace/dataset.h"
#include "headrace/device.h"
#include "headrace/example.h"
#include "headrace/filter.h"
#include "headrace/image.h"
#include "headrace/pipeline.h"
#include "headrace/position.h"
#include "headrace/records.h"
#include "headrace/report.h"
#include "headrace/schema.h"
#include "headrace/status.h"
#include "headrace/trace.h"
#include "headrace/transform.h"
#include "headrace/types.h"

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef WEFT_TEST_PROFILE_H
#define WEFT_TEST_PROFILE_H

#include "profile.h"
#include "support/test_bpf.h"
#include "support/test_host.h"

extern const struct weft_provider weft_provider_plugin;

#endif

# SPDX-License-Identifier: GPL-2.0-only
# The torture test. Subjects are static: nothing runs but what they do. Without
# a red zone they may use the stack in assembler.

TORTURE		:= $(BUILD)/tests/torture
TORTURE_C	:= $(wildcard tests/torture/*.c)
SUBJECT_C	:= $(wildcard tests/torture/subject/*.c)
SUBJECT_H	:= $(wildcard tests/torture/subject/*.h)
SUBJECT_CFLAGS	:= -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror \
		   -Wno-unused-parameter -Wno-clobbered -static -fno-stack-protector

TORTURE_FILES	:= $(addprefix $(TORTURE)/,torture subject count \
		     $(if $(HAS_M32),subject32))

$(TORTURE)/torture: $(TORTURE_C:%.c=$(BUILD)/obj/%.o)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lpthread

$(TORTURE)/subject: $(SUBJECT_C) $(SUBJECT_H)
	@mkdir -p $(@D)
	$(CC) $(SUBJECT_CFLAGS) -mno-red-zone -o $@ $(SUBJECT_C)

$(TORTURE)/subject32: $(SUBJECT_C) $(SUBJECT_H)
	@mkdir -p $(@D)
	$(CC) $(SUBJECT_CFLAGS) $(M32) -o $@ $(SUBJECT_C)

$(TORTURE)/count: tests/torture/count.S
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -o $@ $<

torture-files: $(TORTURE_FILES)

TEST_PROGRAMS += torture-files

.PHONY: torture-files

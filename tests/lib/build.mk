# SPDX-License-Identifier: GPL-2.0-only
# The library, tested under ASan and UBSan (see tests/engine/build.mk).

LIB_SAN   := $(patsubst %.c,$(BUILD)/san/%.o,$(LIB_SOURCES))
LIB_TESTS := event event-names mask-text file processes objects loops diff calls edges export ranges contexts \
	     functions paths together blocks graph values recording session \
	     unwind merge labels convergence converging stretches \
	     intervals map-line
LIB_TEST_SAN := $(patsubst %,$(BUILD)/san/tests/lib/test-%.o,$(LIB_TESTS)) \
		$(patsubst %,$(BUILD)/san/tests/lib/%.o,fixture assembled edge_rows found)

# Programs that are sampled are the engine tests', and so is the oracle.
REPLAY_TEST_SAN := $(patsubst %,$(BUILD)/san/tests/lib/%.o,\
			      test-replay test-chains test-recordings test-names found \
			      run stacks converted)

$(LIB_SAN) $(LIB_TEST_SAN) $(REPLAY_TEST_SAN): override CFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

$(patsubst %,$(BUILD)/tests/test-%,$(LIB_TESTS)): \
$(BUILD)/tests/test-%: $(BUILD)/san/tests/lib/test-%.o \
		       $(patsubst %,$(BUILD)/san/tests/lib/%.o,fixture assembled edge_rows found) \
		       $(LIB_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(LIB_LINK) -lcmocka

$(BUILD)/tests/test-replay: $(filter-out %/test-chains.o %/test-recordings.o %/test-names.o,$(REPLAY_TEST_SAN)) $(LIB_SAN) $(ORACLE_SAN) \
			    $(BUILD)/san/tests/oracle/paths.o \
			    $(patsubst %,$(BUILD)/san/tests/engine/%.o,\
				       machine program)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(LIB_LINK) -lcmocka

$(BUILD)/tests/test-chains: $(patsubst %,$(BUILD)/san/tests/lib/%.o,\
				       test-chains found stacks converted) \
			    $(LIB_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(LIB_LINK) -lcmocka

$(BUILD)/tests/test-names: $(patsubst %,$(BUILD)/san/tests/lib/%.o,\
				      test-names found stacks converted) \
			   $(LIB_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(LIB_LINK) -lcmocka

$(BUILD)/tests/test-recordings: $(patsubst %,$(BUILD)/san/tests/lib/%.o,\
					   test-recordings found stacks converted) \
				$(LIB_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(LIB_LINK) -lcmocka

UNIT_TESTS += $(patsubst %,$(BUILD)/tests/test-%,$(LIB_TESTS) replay chains \
						  recordings names)

# It finds its own functions, and so needs its symbols.
$(BUILD)/san/tests/lib/test-filter.o $(BUILD)/san/lib/live/filter.o: \
	override CFLAGS += -D_GNU_SOURCE

$(BUILD)/tests/test-filter: $(BUILD)/san/tests/lib/test-filter.o \
			    $(BUILD)/san/lib/live/filter.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lelf -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-filter

$(BUILD)/tests/test-phases: $(BUILD)/san/tests/lib/test-phases.o \
			    $(BUILD)/san/lib/profile/phases.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka -lm

UNIT_TESTS += $(BUILD)/tests/test-phases

# The judge of the engine's hot ranges.
$(BUILD)/tests/test-hot-ranges: \
	$(patsubst %,$(BUILD)/san/%.o,tests/lib/test-hot-ranges \
				      tests/accuracy/hot_ranges \
				      lib/reports/range_hot \
				      lib/reports/range_box \
				      kmod/engine/range_tree)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-hot-ranges

# The files of tools that are tested here.
$(BUILD)/san/tools/counters.o: override CFLAGS += -D_GNU_SOURCE

$(BUILD)/tests/test-counters: $(BUILD)/san/tests/lib/test-counters.o \
			      $(BUILD)/san/tools/counters.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

$(BUILD)/tests/test-pace: $(BUILD)/san/tests/lib/test-pace.o \
			  $(BUILD)/san/tools/pace_times.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-pace

$(BUILD)/tests/test-html: $(BUILD)/san/tests/lib/test-html.o \
			  $(BUILD)/san/tools/html_text.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka -lz

$(BUILD)/tests/test-streams: $(BUILD)/san/tests/lib/test-streams.o \
			     $(BUILD)/san/tools/streams.o \
			     $(BUILD)/san/tools/sequitur.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-streams

$(patsubst %,$(BUILD)/san/tools/production_%.o,parse code): \
	override CFLAGS += -D_GNU_SOURCE

$(BUILD)/tests/test-productions: $(BUILD)/san/tests/lib/test-productions.o \
				 $(BUILD)/san/tools/production_parse.o \
				 $(BUILD)/san/tools/production_code.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-productions

UNIT_TESTS += $(BUILD)/tests/test-counters $(BUILD)/tests/test-html

# As a user's program, which sees what the shared library exports.
$(BUILD)/tests/test-cplusplus: tests/lib/test-cplusplus.cc lib/hwprof.h \
			       uapi/linux/hwprof.h $(BUILD)/libhwprof.so.1
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -Wall -Wextra -Werror -Iuapi -Ilib -o $@ $< \
		$(BUILD)/libhwprof.so.1 -Wl,-rpath,'$$ORIGIN/..'

UNIT_TESTS += $(BUILD)/tests/test-cplusplus

$(BUILD)/tests/test-hwprof: tests/lib/test-hwprof.sh $(BUILD)/hwprof
	@mkdir -p $(@D)
	install $< $@

UNIT_TESTS += $(BUILD)/tests/test-hwprof

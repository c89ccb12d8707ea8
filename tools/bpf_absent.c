// SPDX-License-Identifier: GPL-2.0-only
/* The command in place of bpf.c, if hwprof is built with BPF=no. */
#include "command.h"

const char bpf_usage[] =
"usage: hwprof bpf PROGRAM COMMAND...\n"
"\n"
"This hwprof was built without BPF programs (make BPF=no).\n";

int command_bpf(int argc, char **argv)
{
	return failed("this hwprof was built without BPF programs (make BPF=no)");
}

# SPDX-License-Identifier: GPL-2.0-only
"""Compares names in manual pages and docs with those in the code. Prints TAP.
usage, in the project's folder: docs.py HWPROF"""
import glob
import re
import subprocess
import sys

HWPROF = sys.argv[1]
COMMANDS = 'record report replay top stat script export pgo ctl doctor'.split()
failed = 0
count = 0


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def page(path):
    """Returns a manual page as plain text, without macros and with plain dashes."""
    text = re.sub(r'\\f[A-Z]|\\&|"', '', read(path))
    return text.replace('\\-', '-').replace('\\~', ' ')


def usage(command):
    return subprocess.run([HWPROF, 'help', command], check=True,
                          capture_output=True, text=True).stdout


def table(name, header='uapi/linux/hwprof.h', column=0):
    """Returns the names in an X-table of the ABI header."""
    text = read(header)
    body = re.search(r'#define %s\([\w, ]+\)((?:.*\\\n)*.*\n)' % name, text).group(1)
    rows = re.findall(r'\b[A-Z]+\(([^()]*)', body)
    return [row.split(',')[column].strip().strip('"') for row in rows if row]


def check(title, wrong):
    global failed, count
    count += 1
    for what in wrong:
        print('#', what)
    print('not ok' if wrong else 'ok', count, '-', title)
    failed |= bool(wrong)


def long_options(text):
    return set(re.findall(r'(?<![\w-])--([a-z][a-z-]+)', text))


def documented_options(text):
    """Returns the options that have a paragraph of their own."""
    lines = text.split('\n')
    heads = [line for line in lines if re.match(r'\.(B|BR|BI|RB)\b.* ?-', line)]
    return long_options('\n'.join(heads))


def options_of(command):
    text = usage(command)
    has = long_options(text)
    has.discard('help')
    return has, text


def check_options():
    for command in COMMANDS:
        has, _ = options_of(command)
        told = long_options(page(f'docs/man/hwprof-{command}.1'))
        told.discard('help')
        # These pages refer to top's for some options.
        if command in ('stat', 'pgo'):
            has -= options_of('top')[0]
        check(f'options of {command}',
              [f'{command}: --{o} is not in the manual page' for o in has - told])


def check_paragraphs():
    """Checks that each option has a text, and that each command has --help."""
    wrong = []
    for command in COMMANDS:
        path = f'docs/man/hwprof-{command}.1'
        text = read(path)
        if 'help' not in long_options(page(path)):
            wrong.append(f'{path}: no --help')
        wrong += [f'{path}: {head} has no text' for head in
                  re.findall(r'^\.TP\n(\.B.*)\n(?=\.(?:TP|SH|PP)\b)', text, re.M)]
    check('texts of options', wrong)


def check_streams():
    streams = table('HWPROF_RANGES_OF', column=2)
    wrong = [] if len(streams) > 6 else ['the table of streams was not found']
    for where in ('docs/man/hwprof-record.1', 'docs/man/hwprof-report.1',
                  'docs/ranges.md'):
        text = page(where) if where.endswith('.1') else read(where)
        wrong += [f'{where} lacks {s}' for s in streams
                  if not re.search(r'(?<![\w-])%s(?![\w-])' % s, text)]
    for command in 'record', 'report':
        text = usage(command)
        wrong += [f'usage of {command} lacks {s}' for s in streams if s not in text]
    check('streams of ranges', wrong)


def check_fields():
    fields = set(table('HWPROF_FIELD_TABLE', column=1))
    wrong = [] if len(fields) > 20 else ['the table of fields was not found']
    text = page('docs/man/hwprof-record.1')
    wrong += [f'hwprof-record.1 lacks {f}' for f in sorted(fields)
              if not re.search(r'\b%s\b' % f, text)]
    cells = re.findall(r'^\| (`[^|]*) \|', read('docs/events.md'), re.M)
    if len(cells) < 10:
        wrong.append('docs/events.md: the table of fields was not found')
    for cell in cells:
        wrong += [f'docs/events.md: no field {name}' for name in re.findall(r'`([a-z_]+)`', cell)
                  if name not in fields and '_' + name.lstrip('_') != name]
    check('fields of events', wrong)


def check_functions():
    header = read('lib/hwprof.h')
    wrong = []
    for path in glob.glob('docs/*.md') + ['README.md']:
        for name in set(re.findall(r'\b((?:hwprof|rap)_\w+)\(\)', read(path))):
            if not re.search(r'\b%s\(' % name, header):
                wrong.append(f'{path}: {name}() is not in hwprof.h')
    check('functions that docs name', wrong)


def undocumented(path, name, names):
    """Returns which of the names the kernel-doc of a function or a structure lacks, and
    whether it has any."""
    comments = re.findall(r'/\*\*\n(?: \*[^\n]*\n)+', read(path))
    text = [comment for comment in comments
            if re.match(r'/\*\*\n \* (?:struct )?%s(?:\(\))? - ' % name, comment)]
    if not text:
        return [f'{path}: {name} has no kernel-doc']
    return [f'{path}: {name}: nothing about {member}' for member in names
            if not re.search(r'@(?:\w+, )*%s\b|^ \* %s: ' % (member, member), text[0], re.M)]


def check_interfaces():
    """Checks that each function of the library has kernel-doc of its parameters and
    result, and the structures between the parts of the module of their members."""
    wrong = []
    header = read('lib/hwprof.h')
    declared = re.findall(r'^([a-z][\w \*]*?)\b((?:hwprof|rap)_\w+)\(([^;{}]*)\);', header, re.M)
    for result, name, parameters in declared:
        names = re.findall(r'(\w+)\s*(?:,|$|\[)', re.sub(r'\s+', ' ', parameters))
        names = [word for word in names if word != 'void']
        if result.strip() != 'void':
            names.append('Return')
        wrong += undocumented('lib/hwprof.h', name, names)
    for path, name in (('kmod/engine/engine.h', 'engine_ops'),
                       ('kmod/engine/stream.h', 'stream_event'),
                       ('kmod/engine/stream.h', 'stream_stack'),
                       ('kmod/source/source.h', 'source_ops'),
                       ('kmod/session.h', 'session')):
        text = read(path)
        body = re.search(r'^struct %s \{\n(.*?)^\};' % name, text, re.M | re.S).group(1)
        members = re.findall(r'(\w+)(?:\)\([^;]*\)|\[\w+\])?;', re.sub(r'/\*.*?\*/', '', body,
                                                                     flags=re.S))
        inside = set(re.findall(r'@(\w+): ', body))
        wrong += undocumented(path, name, [member for member in members
                                           if member not in inside])
    check('kernel-doc of interfaces', wrong or ([] if declared else ['nothing is declared']))


def check_examples():
    """Checks that functions in a sentence about an example are called there."""
    wrong, seen = [], 0
    for path in glob.glob('docs/*.md') + ['README.md']:
        for sentence in re.split(r'(?<=[.:]) |\n', read(path)):
            examples = re.findall(r'\]\([./]*(examples/\w+\.c)\)', sentence)
            for example in examples:
                seen += 1
                source = read(example)
                wrong += [f'{path}: {example} does not call {name}()' for name in
                          re.findall(r'\b((?:hwprof|rap)_\w+)\(\)', sentence)
                          if f'{name}(' not in source]
    check('functions that examples call', wrong or
          ([] if seen else ['no example is named']))


def sources_in(text):
    return set(re.findall(r'\b(step|lbr|sample|mem)\b', text))


def check_doctor():
    """Checks that code, usage and page agree on the sources that make the doctor
    end with 0."""
    code = set(re.findall(r'source_works\("(\w+)"\)', read('tools/doctor.c')))
    told = re.search(r'exit status: 0 (.*?); 1 ', usage('doctor'), re.S).group(1)
    text = page('docs/man/hwprof-doctor.1')
    zero = re.search(r'EXIT STATUS.*?\b0\n(.*?)\nFor', text, re.S)
    paged = sources_in(zero.group(1)) if zero else set()
    wrong = [f'{where} has {sorted(has)}, and tools/doctor.c {sorted(code)}'
             for where, has in (('the usage', sources_in(told)),
                                ('the manual page', paged)) if has != code]
    check('sources that make the doctor end with 0', wrong or
          ([] if code else ['the code was not understood']))


def command_lines():
    pages = glob.glob('docs/*.md') + ['README.md'] + glob.glob('docs/man/*.1')
    for path in pages:
        text = page(path) if path.endswith('.1') else read(path)
        for line in text.split('\n'):
            match = re.match(r'(?: {4}|)(?:[$#] )?(hwprof (\w+)\b.*)', line)
            if match and match.group(2) in COMMANDS:
                yield path, match.group(2), match.group(1).split('|')[0]


def check_commands():
    wrong, lines = [], 0
    for path, command, line in command_lines():
        text = usage(command)
        own = re.split(r' -- |#', line)[0]
        lines += 1
        wrong += [f'{path}: {line}: no option --{o}' for o in long_options(own)
                  if f'--{o}' not in text]
        wrong += [f'{path}: {line}: no option -{o}'
                  for o in re.findall(r' -([A-Za-z])\b', own)
                  if not re.search(r'(^|\s)-%s\b' % o, text, re.M)]
    check('options in command lines', wrong if lines > 20 else
          ['command lines were not found'])


def kernels():
    """Returns the versions of tests/vm/kernel/kernels, as pairs, oldest first."""
    lines = [line.split() for line in read('tests/vm/kernel/kernels').split('\n')
             if line and not line.startswith('#')]
    return sorted({tuple(map(int, words[2].split('.'))) for words in lines})


def check_kernels():
    """Checks that everybody names the oldest and the newest kernel of the table."""
    oldest, newest = kernels()[0], kernels()[-1]
    span = '%d.%d to %d.%d' % (*oldest, *newest)
    wrong = [f'{path} does not say {span}'
             for path in ('README.md', 'docs/install.md', 'docs/kernels.md',
                          'docs/events.md', 'docs/programs.md', 'debian/control',
                          'kmod/compat.h') if span not in read(path)]
    allowed = re.search(r'BUILD_EXCLUSIVE_KERNEL="(.*)"', read('kmod/dkms.conf')).group(1)
    major, minor = newest
    cases = [('%d.%d.0-1-amd64' % oldest, True), (f'{major}.{minor}.1', True),
             (f'{major}.{minor + 1}.0', False), (f'{major + 1}.0.0', False),
             ('%d.%d.5' % (oldest[0], oldest[1] - 1), False)]
    wrong += [f'kmod/dkms.conf: {version} must {"" if built else "not "}be built'
              for version, built in cases if bool(re.match(allowed, version)) != built]
    check('the oldest and the newest kernel', wrong)


def check_suites():
    """Checks that the tables of docs/checks.md have a row for each suite, and the sums
    of their CPU seconds."""
    lines = [line.split() for line in read('tests/suites').split('\n')
             if line and not line.startswith('#')]
    text = read('docs/checks.md')
    heads = re.findall(r'^\| ([a-z][^|]*) \|', text, re.M)
    told = {name for head in heads for name in re.split(r'[,;] ', head)}
    wrong = [f'docs/checks.md: no row has {words[0]}' for words in lines
             if words[0] not in told]
    sums = {title: sum(int(words[2]) for words in lines if words[1][0] in tiers)
            for title, tiers in (('the second tier takes', '2'), ('all suites', '123'))}
    wrong += [f'docs/checks.md does not say: {title} {total:,}'
              for title, total in sums.items() if f'{title} {total:,}' not in text]
    check('suites and their CPU seconds', wrong or ([] if lines else ['there are none']))


check_options()
check_paragraphs()
check_streams()
check_fields()
check_functions()
check_interfaces()
check_examples()
check_doctor()
check_commands()
check_kernels()
check_suites()
print(f'1..{count}')
sys.exit(failed)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stands for Pyroscope, Parca and an OpenTelemetry collector, and is as strict.

usage: receiver.py PORT LOG

Messages are decoded by the numbers of their fields, as the public definitions of the
three have them; a field that is not in these is refused. Each request appends a line
of JSON to LOG: who it is for, what was wrong ("" if nothing), labels, sums of values,
and of each process that samples have labels of.

POST /behave?to=NAME&as=WORD,WORD... says how the next requests are treated, one word
each: ok, STATUS, STATUS:SECONDS (Retry-After), cut, stall. After the last: ok.
"""
import base64
import gzip
import http.server
import json
import re
import sys
import threading
import time
import urllib.parse

STALL = 5


class Refused(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Refused(why)


# --- protobuf ----------------------------------------------------------------
# A message: number of a field -> (name, type). Types: int, str, bytes, double (8 bytes),
# or a message; in a list if the field is repeated.
PPROF_TYPE = {1: ('type', int), 2: ('unit', int)}
PPROF = {
    1: ('sample_type', [PPROF_TYPE]),
    2: ('sample', [{1: ('location_id', [int]), 2: ('value', [int]), 3: ('label', [{
        1: ('key', int), 2: ('str', int), 3: ('num', int), 4: ('num_unit', int)}])}]),
    3: ('mapping', [{
        1: ('id', int), 2: ('memory_start', int), 3: ('memory_limit', int),
        4: ('file_offset', int), 5: ('filename', int), 6: ('build_id', int),
        7: ('has_functions', int), 8: ('has_filenames', int),
        9: ('has_line_numbers', int), 10: ('has_inline_frames', int)}]),
    4: ('location', [{
        1: ('id', int), 2: ('mapping_id', int), 3: ('address', int),
        4: ('line', [{1: ('function_id', int), 2: ('line', int), 3: ('column', int)}]),
        5: ('is_folded', int)}]),
    5: ('function', [{
        1: ('id', int), 2: ('name', int), 3: ('system_name', int),
        4: ('filename', int), 5: ('start_line', int)}]),
    6: ('string_table', [str]), 7: ('drop_frames', int), 8: ('keep_frames', int),
    9: ('time_nanos', int), 10: ('duration_nanos', int), 11: ('period_type', PPROF_TYPE),
    12: ('period', int), 13: ('comment', [int]), 14: ('default_sample_type', int),
}
ANY = {1: ('string_value', str), 2: ('bool_value', int), 3: ('int_value', int)}
OTLP_TYPE = {1: ('type_strindex', int), 2: ('unit_strindex', int)}
OTLP = {
    1: ('resource_profiles', [{
        1: ('resource', {1: ('attributes', [{1: ('key', str), 2: ('value', ANY)}]),
                         2: ('dropped_attributes_count', int)}),
        2: ('scope_profiles', [{
            1: ('scope', {1: ('name', str), 2: ('version', str)}),
            2: ('profiles', [{
                1: ('sample_type', OTLP_TYPE),
                2: ('samples', [{
                    1: ('stack_index', int), 2: ('attribute_indices', [int]),
                    3: ('link_index', int), 4: ('values', [int]),
                    5: ('timestamps_unix_nano', [float])}]),
                3: ('time_unix_nano', float), 4: ('duration_nano', int),
                5: ('period_type', OTLP_TYPE), 6: ('period', int),
                7: ('profile_id', bytes)}]),
            3: ('schema_url', str)}]),
        3: ('schema_url', str)}]),
    2: ('dictionary', {
        1: ('mapping_table', [{
            1: ('memory_start', int), 2: ('memory_limit', int), 3: ('file_offset', int),
            4: ('filename_strindex', int), 5: ('attribute_indices', [int])}]),
        2: ('location_table', [{
            1: ('mapping_index', int), 2: ('address', int),
            3: ('lines', [{1: ('function_index', int), 2: ('line', int),
                           3: ('column', int)}]),
            4: ('attribute_indices', [int])}]),
        3: ('function_table', [{
            1: ('name_strindex', int), 2: ('system_name_strindex', int),
            3: ('filename_strindex', int), 4: ('start_line', int)}]),
        4: ('link_table', [{1: ('trace_id', bytes), 2: ('span_id', bytes)}]),
        5: ('string_table', [str]),
        6: ('attribute_table', [{
            1: ('key_strindex', int), 2: ('value', ANY), 3: ('unit_strindex', int)}]),
        7: ('stack_table', [{1: ('location_indices', [int])}])}),
}


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, 'a number is cut off')
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value & (1 << 64) - 1, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def take(message, data, wire, at, name, kind):
    """Adds the value of a field to the message. Returns where the next field is."""
    repeated = isinstance(kind, list)
    one = kind[0] if repeated else kind
    if one is float:
        need(wire in (1, 2), f'{name} has wire type {wire}')
        size = 8
        if wire == 2:
            size, at = varint(data, at)
        values = [int.from_bytes(data[at + i:at + i + 8], 'little')
                  for i in range(0, size, 8)]
        at += size
    elif one is int and wire == 0:
        value, at = varint(data, at)
        values = [signed(value)]
    else:
        need(wire == 2 and (one is not int or repeated), f'{name} has wire type {wire}')
        size, at = varint(data, at)
        need(size <= len(data) - at, f'{name} is cut off')
        body = data[at:at + size]
        at += size
        if one is int:
            values, i = [], 0
            while i < size:
                value, i = varint(body, i)
                values.append(signed(value))
        elif one is str:
            values = [body.decode('utf-8')]
        elif one is bytes:
            values = [body]
        else:
            old = None if repeated else message.get(name)
            values = [decode(one, body, old)]
    need(at <= len(data), f'{name} is cut off')
    if repeated:
        message.setdefault(name, []).extend(values)
    else:
        message[name] = values[-1]
    return at


def decode(fields, data, message=None):
    message = {} if message is None else message
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        need(key >> 3 in fields, f'there is no field {key >> 3}')
        at = take(message, data, key & 7, at, *fields[key >> 3])
    return message


# --- labels of samples --------------------------------------------------------
PROCESS = ('program', 'uid', 'cgroup', 'unit', 'container', 'process', 'pid')


def add_process(processes, labels, value):
    """Adds the value of a sample to that of its process, whose labels it has."""
    need(len(dict(labels)) == len(labels), 'a label of a sample comes twice')
    need('' not in dict(labels), 'a label of a sample has no name')
    need('' not in dict(labels).values(), 'a label of a sample is empty')
    own = {key: text for key, text in labels if key in PROCESS}
    process = processes.setdefault(json.dumps(own, sort_keys=True), {**own, 'sum': 0})
    process['sum'] += value


# --- pprof -------------------------------------------------------------------
def check_pprof(data):
    """Checks what google/pprof's CheckValid() does. Returns sums by type, the profile."""
    need(data[:2] == b'\x1f\x8b', 'the profile is not compressed')
    profile = decode(PPROF, gzip.decompress(data))
    strings = profile.get('string_table', [])
    need(strings and strings[0] == '', 'the first string is not empty')
    types = [strings[one['type']] for one in profile['sample_type']]
    ids = {}
    for table in 'mapping', 'location', 'function':
        all_ids = [one.get('id', 0) for one in profile.get(table, [])]
        need(0 not in all_ids, f'a {table} has id 0')
        need(len(set(all_ids)) == len(all_ids), f'a {table} comes twice')
        ids[table] = set(all_ids)
    for location in profile.get('location', []):
        mapping = location.get('mapping_id', 0)
        need(not mapping or mapping in ids['mapping'], 'a mapping is missing')
        for line in location.get('line', []):
            need(line.get('function_id', 0) in ids['function'], 'a function is missing')
    for function in profile.get('function', []):
        need(function.get('name', 0) < len(strings), 'a string is missing')
    main = types.index(strings[profile['default_sample_type']])
    sums, processes = dict.fromkeys(types, 0), {}
    for sample in profile.get('sample', []):
        values = sample.get('value', [])
        need(len(values) == len(types), 'a sample has another number of values')
        add_process(processes, [
            (strings[label['key']], strings[label['str']] if 'str' in label else
             label.get('num', 0)) for label in sample.get('label', [])], values[main])
        need(sample.get('location_id'), 'a sample has no stack')
        for location in sample['location_id']:
            need(location in ids['location'], 'a location is missing')
        for name, value in zip(types, values):
            sums[name] += value
    need(profile.get('sample'), 'there are no samples')
    need(abs(profile.get('time_nanos', 0) / 1e9 - time.time()) < 86400,
         'the profile is of another time')
    need(profile.get('duration_nanos', 0) > 0, 'the profile has no length')
    return sums, types, list(processes.values())


# --- receivers ---------------------------------------------------------------
def parts_of(content_type, body):
    match = re.fullmatch('multipart/form-data; boundary=([A-Za-z0-9-]{1,70})', content_type)
    need(match, 'the body is no form')
    mark = b'--' + match[1].encode()
    need(body.startswith(mark + b'\r\n'), 'the form does not begin with its boundary')
    pieces = (b'\r\n' + body).split(b'\r\n' + mark)
    need(pieces[0] == b'' and pieces[-1] == b'--\r\n', 'the form does not end')
    parts = {}
    for piece in pieces[1:-1]:
        head, blank, content = piece.partition(b'\r\n\r\n')
        name = re.search(rb'Content-Disposition: form-data; name="([a-z_]+)"', head)
        need(blank and name, 'a part has no name')
        parts[name[1].decode()] = content
    return parts


def pyroscope(query, headers, body):
    match = re.fullmatch(r'([A-Za-z0-9_.-]+)\{([^{}]*)\}', query.get('name', ''))
    need(match, 'name is no application with labels')
    labels = {}
    for pair in match[2].split(','):
        key, equals, value = pair.partition('=')
        need(equals and value and re.fullmatch('[A-Za-z_][A-Za-z0-9_.]*', key),
             f'label {pair!r}')
        need(key not in labels, f'label {key} comes twice')
        labels[key] = value
    need(0 < int(query['from']) < int(query['until']), 'from is not before until')
    need(int(query['until']) <= time.time() + 5, 'until is in the future')
    need(query.get('format') == 'pprof', 'the format is not pprof')
    parts = parts_of(headers['Content-Type'], body)
    need('profile' in parts, 'there is no profile')
    sums, types, processes = check_pprof(parts['profile'])
    config = json.loads(parts['sample_type_config'])
    for name in types:
        need(name in config, f'sample type {name} is not configured')
        need(set(config[name]) <= {'units', 'display-name', 'aggregation', 'cumulative',
                                   'sampled'}, f'sample type {name}')
        need(config[name]['units'] in ('samples', 'objects', 'bytes'), 'units')
        need(config[name]['cumulative'] is False, 'it is no difference')
    return labels, sums, processes


def parca(query, headers, body):
    need(headers['Content-Type'] == 'application/json', 'the type is not JSON')
    request = json.loads(body)
    need(set(request) <= {'tenant', 'series', 'normalized'}, 'a field is unknown')
    need(len(request['series']) == 1, 'there is not one series')
    series = request['series'][0]
    need(set(series) == {'labels', 'samples'}, 'a field of series is unknown')
    labels = {}
    for label in series['labels']['labels']:
        need(set(label) == {'name', 'value'}, 'a field of a label is unknown')
        need(re.fullmatch('[a-zA-Z_][a-zA-Z0-9_]*', label['name']), label['name'])
        need(label['name'] not in labels, f'label {label["name"]} comes twice')
        labels[label['name']] = label['value']
    need(labels.get('__name__'), 'there is no __name__')
    need(len(series['samples']) == 1, 'there is not one sample')
    raw = base64.b64decode(series['samples'][0]['rawProfile'], validate=True)
    sums, _, processes = check_pprof(raw)
    return labels, sums, processes


def check_index(table, index, name):
    need(0 <= index < len(table), f'{name} {index} of {len(table)}')


def check_dictionary(all_tables):
    for name in ('mapping', 'location', 'function', 'link', 'attribute', 'stack'):
        table = all_tables.get(name + '_table', [])
        need(table and not any(table[0].values()), f'the first {name} is not empty')
    need(all_tables['string_table'][0] == '', 'the first string is not empty')
    for location in all_tables['location_table']:
        check_index(all_tables['mapping_table'], location.get('mapping_index', 0),
                    'mapping')
        for line in location.get('lines', []):
            check_index(all_tables['function_table'], line.get('function_index', 0),
                        'function')
    for stack in all_tables['stack_table']:
        for index in stack.get('location_indices', []):
            need(index, 'a stack has location 0')
            check_index(all_tables['location_table'], index, 'location')


def value_of(value):
    return value.get('string_value', value.get('int_value', 0))


def check_profile(profile, tables, sums, processes):
    kind = tables['string_table'][profile['sample_type']['type_strindex']]
    need(profile.get('period', 0), 'the period is 0')
    need(abs(profile.get('time_unix_nano', 0) / 1e9 - time.time()) < 86400,
         'the profile is of another time')
    need(profile.get('duration_nano', 0) > 0, 'the profile has no length')
    for sample in profile.get('samples', []):
        check_index(tables['stack_table'], sample.get('stack_index', 0), 'stack')
        for index in sample.get('attribute_indices', []):
            check_index(tables['attribute_table'], index, 'attribute')
        attributes = [tables['attribute_table'][index]
                      for index in sample.get('attribute_indices', [])]
        add_process(processes, [
            (tables['string_table'][one['key_strindex']], value_of(one['value']))
            for one in attributes], sample['values'][0])
        need(len(sample.get('values', [])) == 1, 'a sample has not one value')
        sums[kind] = sums.get(kind, 0) + sample['values'][0]


def otlp(query, headers, body):
    need(headers['Content-Type'] == 'application/x-protobuf', 'the type is not protobuf')
    data = decode(OTLP, body)
    check_dictionary(data['dictionary'])
    labels, sums, processes = {}, {}, {}
    for resource in data['resource_profiles']:
        for pair in resource['resource']['attributes']:
            labels[pair['key']] = pair['value']['string_value']
        for scope in resource['scope_profiles']:
            for profile in scope['profiles']:
                # Each has the values of one type, the first of the main one.
                check_profile(profile, data['dictionary'], sums,
                              {} if sums else processes)
    need(labels.get('service.name'), 'there is no service.name')
    return labels, sums, list(processes.values())


PATHS = {
    '/ingest': ('pyroscope', pyroscope),
    '/api/profiles/writeraw': ('parca', parca),
    '/v1development/profiles': ('otlp', otlp),
}
behaviour = {name: [] for name, _ in PATHS.values()}
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def answer(self, status, text='', after=None):
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        if after:
            self.send_header('Retry-After', after)
        self.end_headers()
        self.wfile.write(text.encode())

    def note(self, **line):
        with lock, open(sys.argv[2], 'a', encoding='utf-8') as log:
            print(json.dumps(line), file=log)

    def behave(self, word):
        if word == 'cut':
            self.connection.shutdown(2)
            self.close_connection = True
        elif word == 'stall':
            time.sleep(STALL)
            self.close_connection = True
        else:
            status, _, after = word.partition(':')
            self.answer(int(status), 'try later', after)

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == '/behave':
            behaviour[query['to']] = query['as'].split(',')
            self.answer(200)
            return
        if url.path not in PATHS:
            self.answer(404, 'no such path')
            return
        name, receive = PATHS[url.path]
        words = behaviour[name]
        word = words.pop(0) if words else 'ok'
        if word == 'cut':
            self.rfile.read(100)
            self.note(to=name, as_=word, at=time.time())
            self.behave(word)
            return
        body = self.rfile.read(int(self.headers['Content-Length']))
        if word != 'ok':
            self.note(to=name, as_=word, at=time.time())
            self.behave(word)
            return
        line = {'to': name, 'why': '', 'at': time.time(),
                'tenant': self.headers.get('X-Scope-OrgID', ''),
                'token': self.headers.get('Authorization', '')}
        try:
            line['labels'], line['sums'], line['processes'] = receive(
                query, self.headers, body)
        except (Refused, KeyError, ValueError, IndexError, TypeError,
                AttributeError) as error:
            line['why'] = f'{type(error).__name__}: {error}'
        self.note(**line)
        self.answer(400 if line['why'] else 200, line['why'])

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()

# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Probes of a Python program, traced by weft. Nothing is compiled: it is all system calls and a mapped file.

	import weft_user
	done = weft_user.Probe("app", "request_done", "string path, uint32 status, uint64 ns")
	if done.enabled:
		done.fire("/index.html", 200, 1234567)

The layout is that of docs/user-syscall.md. Where something is missing (another system, a sandbox, no 64 bits)
probes are never enabled and `weft_user.reason` says why. Declaring is for one thread at a time.
"""
import ctypes
import fcntl
import mmap
import os
import platform
import resource
import struct
import time

MAGIC = 0x77656674
_REGISTER = 0xffffffff
_SLOTS, _WORDS, _CAPACITY, _DECLS_SIZE = 512, 4096, 4096, 1 << 20
_DECLS = _WORDS + 8 * _CAPACITY
_SIZE = _DECLS + _DECLS_SIZE
_LEASE = 10.0
_NUMBERS = {"x86_64": 39, "aarch64": 172}
_TYPES = {"int8": 1, "int16": 1, "int32": 1, "int64": 1, "uint8": 1, "uint16": 1, "uint32": 1, "uint64": 1,
	  "pointer": 1, "string": 1, "text": 2, "bytes": 2}

reason = None  # why no probe can ever be enabled


def _sandboxed():
	try:
		with open("/proc/self/status") as f:
			for line in f:
				if line.startswith("Seccomp:"):
					return line.split()[1] != "0"
	except OSError:
		return True
	return False


class _Table:
	"""One for each process: a child of fork() makes its own before it declares."""

	def __init__(self, old=None):
		libc = ctypes.CDLL(None, use_errno=True)
		self.syscall = libc.syscall
		self.syscall.restype = ctypes.c_long
		self.getpid = ctypes.c_long(_NUMBERS[platform.machine()])
		fd = os.memfd_create("weft:probes", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
		try:
			os.ftruncate(fd, _SIZE)
			fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
			self.map = mmap.mmap(fd, _SIZE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
			inode = os.fstat(fd).st_ino
		finally:
			os.close(fd)
		self.pid = os.getpid()
		self.seen = {}  # slot: (beat, when it was first seen)
		if old:
			self.number, self.count, self.used = old.number, old.count, old.used
			self.map[:_DECLS + self.used] = old.map[:_DECLS + self.used]
			return
		self.number, self.count, self.used = inode % 4095, 0, 0
		self.map[:40] = struct.pack("8s8I", b"weftprob", 1, self.number, _CAPACITY, _WORDS, _DECLS,
					    _DECLS_SIZE, 0, 0)

	def call(self, low, words):
		self.syscall(self.getpid, ctypes.c_ulong(MAGIC << 32 | low), *map(ctypes.c_ulong, words))

	def announce(self):
		self.call(_REGISTER, [self.number])

	def declare(self, provider, name, args):
		text = b"\0".join(t.encode() for t in (provider, name, args)) + b"\0"
		size = (8 + len(text) + 7) & ~7
		if self.count == _CAPACITY or self.used + size > _DECLS_SIZE or size > 4096:
			raise OSError(28, "too many probes")
		at = _DECLS + self.used
		self.map[at + 8:at + 8 + len(text)] = text
		self.map[at:at + 8] = struct.pack("2I", size, 1)
		self.used += size
		self.count += 1
		# One slice of four bytes is one store, after those above: mmap copies with memcpy, and this is a call.
		self.map[32:36] = struct.pack("I", self.count)
		self.announce()
		return self.count - 1, at

	def alive(self, index):
		"""Forgets tracers that were killed; whether there is another."""
		at, now, any_alive = _WORDS + 8 * index, time.monotonic(), False
		for slot in range(8):
			if not self.map[at + slot]:
				continue
			beat, expired = struct.unpack_from("2Q", self.map, _SLOTS + 64 * slot)
			known = self.seen.get(slot)
			if beat and (not known or known[0] != beat):
				self.seen[slot] = (beat, now)
			elif not beat or now - known[1] > _LEASE:
				self.map[at + slot] = 0
				struct.pack_into("Q", self.map, _SLOTS + 64 * slot + 8, expired + 1)
				continue
			any_alive = True
		return any_alive


_table = None


def _own_table():
	global _table, reason
	if _table and _table.pid == os.getpid():
		return _table
	if platform.machine() not in _NUMBERS or ctypes.sizeof(ctypes.c_void_p) != 8:
		reason = "this machine's calls are not known"
	elif _sandboxed():
		reason = "a sandbox (seccomp) is in force"
	else:
		soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
		if soft != resource.RLIM_INFINITY and soft < _SIZE:
			reason = "the limit for the size of files"
	if not reason:
		try:
			_table = _Table(_table)
		except (OSError, AttributeError) as e:
			reason = str(e)
	return None if reason else _table


class Probe:
	def __init__(self, provider, name, args=""):
		kinds = [a.split() for a in args.split(",")] if args.strip() else []
		if not provider or not name or len(provider.encode()) > 127 or len(name.encode()) > 127 or \
		   any(len(k) != 2 or k[0] not in _TYPES or not k[1].isidentifier() for k in kinds) or \
		   sum(_TYPES[k[0]] for k in kinds) > 32:
			raise ValueError("a probe needs two names, and arguments like 'uint32 status, string path'")
		self.kinds = [k[0] for k in kinds]
		table = _own_table()
		self.index = None
		if table:
			self.index, self.at = table.declare(provider, name, args)

	@property
	def enabled(self):
		if self.index is None:
			return False
		at = _WORDS + 8 * self.index
		return any(_table.map[at:at + 8])

	def fire(self, *values):
		"""Strings and bytes are handed over where they lie; they live until the call is over."""
		if not self.enabled or not _table.alive(self.index):
			return
		words, keep = [], []
		for kind, value in zip(self.kinds, values, strict=True):
			if kind in ("string", "text", "bytes"):
				data = value.encode() if isinstance(value, str) else bytes(value)
				keep.append(ctypes.create_string_buffer(data))
				words.append(ctypes.addressof(keep[-1]))
				if kind != "string":
					words.append(len(data))
			else:
				words.append(value & 0xffffffffffffffff)
		if len(words) > 5:
			keep.append((ctypes.c_uint64 * len(words))(*words))
			words = [ctypes.addressof(keep[-1]), len(words)]
		words += [0] * (5 - len(words))
		_table.call(_table.number << 20 | self.index, words)

	def undeclare(self):
		table = _own_table()
		if not table or self.index is None:
			return
		size, state = struct.unpack_from("2I", table.map, self.at)
		if state & 1:
			table.map[_WORDS + 8 * self.index:_WORDS + 8 * self.index + 8] = bytes(8)
			struct.pack_into("I", table.map, self.at + 4, state + 1)
			table.announce()

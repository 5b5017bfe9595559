<?php
// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Probes of a PHP program, traced by weft: docs/user-syscall.md in PHP, by FFI and without anything compiled.
//
//	require "weft_user.php";
//	$done = new WeftProbe("shop", "order_done", "uint64 id, text customer, int32 cents");
//	if ($done->enabled())
//		$done->fire(17, "Smith", 999);
//
// Where it cannot be had, probes are never enabled and WeftProbe::$reason says why. It is for programs of one thread;
// a child of pcntl_fork() may fire what its parent declared, and must not declare.

final class WeftTable
{
	const CAPACITY = 1024, WORDS = 4096, DECLS_SIZE = 1 << 18, SLOTS = 512, LEASE_S = 10;
	const DECLS = self::WORDS + 8 * self::CAPACITY, SIZE = self::DECLS + self::DECLS_SIZE;
	const NUMBERS = ["x86_64" => 39, "aarch64" => 172];

	public readonly FFI $c;
	public readonly FFI\CData $bytes; // all of it
	public readonly int $number;
	private int $getpid, $count = 0, $used = 0;
	private array $seen = []; // slot => [beat, when it was seen first]

	public function __construct()
	{
		if (PHP_INT_SIZE != 8 || !isset(self::NUMBERS[php_uname("m")]))
			throw new RuntimeException("this machine's calls are not known");
		if (!preg_match('/^Seccomp:\s+0$/m', (string)@file_get_contents("/proc/self/status")))
			throw new RuntimeException("a sandbox (seccomp) is in force");
		$this->getpid = self::NUMBERS[php_uname("m")];
		$this->c = FFI::cdef("
			long syscall(long n, uint64_t word, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);
			int memfd_create(const char *name, unsigned flags);
			int ftruncate(int fd, long size);
			int fcntl(int fd, int op, long arg);
			void *mmap(void *at, size_t n, int prot, int flags, int fd, long offset);
			int close(int fd);
			struct limit { uint64_t now, most; };
			int getrlimit(int what, struct limit *out);", "libc.so.6");
		$limit = $this->c->new("struct limit");
		if ($this->c->getrlimit(1 /* file size */, FFI::addr($limit)) || ($limit->now >= 0 && $limit->now < self::SIZE))
			throw new RuntimeException("the limit for the size of files");
		$fd = $this->c->memfd_create("weft:probes", 3); // close-on-exec, sealable
		if ($fd < 0 || $this->c->ftruncate($fd, self::SIZE) || $this->c->fcntl($fd, 1033, 6)) // seals: shrink, grow
			throw new RuntimeException("no memory file");
		$map = $this->c->mmap(null, self::SIZE, 3, 1, $fd, 0); // read and write, shared
		$inode = stat("/proc/self/fd/$fd")["ino"];
		$this->c->close($fd);
		if ($this->address($map) == -1)
			throw new RuntimeException("the memory file cannot be mapped");
		$this->bytes = $this->c->cast("uint8_t[" . self::SIZE . "]", $map);
		$this->number = $inode % 4095;
		$this->put(0, pack("a8L8", "weftprob", 1, $this->number, self::CAPACITY, self::WORDS, self::DECLS,
			self::DECLS_SIZE, 0, 0));
	}

	public function address(FFI\CData $p): int
	{
		return $this->c->cast("int64_t", $p)->cdata;
	}

	private function put(int $at, string $bytes): void
	{
		FFI::memcpy(FFI::addr($this->bytes[$at]), $bytes, strlen($bytes));
	}

	private function get64(int $at): int
	{
		return unpack("q", FFI::string(FFI::addr($this->bytes[$at]), 8))[1];
	}

	public function call(int $low, array $words): void
	{
		$this->c->syscall($this->getpid, 0x77656674 << 32 | $low, ...array_pad($words, 5, 0));
		$this->c->syscall($this->getpid, 0, 0, 0, 0, 0, 0); // the register does not keep the word
	}

	public function declare(string $provider, string $name, string $args): int
	{
		$text = "$provider\0$name\0$args\0";
		$size = (8 + strlen($text) + 7) & ~7;
		if ($this->count == self::CAPACITY || $this->used + $size > self::DECLS_SIZE || $size > 4096)
			throw new RuntimeException("too many probes");
		$this->put(self::DECLS + $this->used, pack("L2", $size, 1) . $text);
		$this->used += $size;
		$this->put(32, pack("L", ++$this->count));
		$this->call(0xffffffff, [$this->number]);
		return $this->count - 1;
	}

	public function enabled(int $index): bool
	{
		return $this->get64(self::WORDS + 8 * $index) != 0;
	}

	// Forgets tracers that were killed; whether there is another.
	public function alive(int $index): bool
	{
		$any = false;
		for ($slot = 0; $slot < 8; $slot++) {
			if (!$this->bytes[self::WORDS + 8 * $index + $slot])
				continue;
			$at = self::SLOTS + 64 * $slot;
			$beat = $this->get64($at);
			if ($beat && ($this->seen[$slot][0] ?? 0) != $beat)
				$this->seen[$slot] = [$beat, hrtime(true)];
			if ($beat && hrtime(true) - $this->seen[$slot][1] < self::LEASE_S * 1_000_000_000) {
				$any = true;
				continue;
			}
			$this->bytes[self::WORDS + 8 * $index + $slot] = 0;
			$this->put($at + 8, pack("q", $this->get64($at + 8) + 1));
		}
		return $any;
	}
}

final class WeftProbe
{
	public static ?string $reason = null;
	private static ?WeftTable $table = null;
	private ?int $index = null;
	private array $kinds;

	public function __construct(string $provider, string $name, string $args = "")
	{
		$this->kinds = $args === "" ? [] : array_map(fn ($a) => strtok(trim($a), " "), explode(",", $args));
		try {
			self::$table ??= self::$reason ? null : new WeftTable();
			$this->index = self::$table?->declare($provider, $name, $args);
		} catch (Throwable $e) {
			self::$reason = $e->getMessage();
		}
	}

	public function enabled(): bool
	{
		return $this->index !== null && self::$table->enabled($this->index);
	}

	public function fire(int|string ...$values): void
	{
		if (!$this->enabled() || !self::$table->alive($this->index))
			return;
		$c = self::$table->c;
		$words = $keep = [];
		foreach ($this->kinds as $i => $kind) {
			if (!in_array($kind, ["string", "text", "bytes"])) {
				$words[] = (int)$values[$i];
				continue;
			}
			$n = strlen($values[$i]);
			$keep[] = $text = $c->new("uint8_t[" . ($n + 1) . "]");
			FFI::memcpy($text, $values[$i] . "\0", $n + 1);
			$words[] = self::$table->address(FFI::addr($text[0]));
			if ($kind != "string")
				$words[] = $n;
		}
		if (count($words) > 5) {
			$keep[] = $all = $c->new("uint64_t[" . count($words) . "]");
			FFI::memcpy($all, pack("q*", ...$words), 8 * count($words));
			$words = [self::$table->address(FFI::addr($all[0]))];
		}
		self::$table->call(self::$table->number << 20 | $this->index, $words);
	}
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// A Go program whose stacks grow, and so move, in the middle of functions: eight goroutines, on as
// many threads as there are, each of which calls
//
//	deep    recursively, 3,001 calls from depth 3,000, whose frames make the stack grow again and again
//	small   1,000 times, with two ways out
//	panics  10 times, which leaves by a panic that its caller recovers from
package main

import "os"

//go:noinline
func deep(n int) int {
	var pad [200]byte
	pad[n%200] = byte(n)
	if n == 0 {
		return int(pad[0])
	}
	return deep(n-1) + int(pad[n%200]) - int(byte(n)) + 1
}

//go:noinline
func small(n int) int {
	if n%2 == 0 {
		return n / 2
	}
	return 3*n + 1
}

//go:noinline
func panics(n int) int {
	if n >= 0 {
		panic("on purpose")
	}
	return n
}

//go:noinline
func recovers(n int) (out int) {
	defer func() {
		if recover() != nil {
			out = 1
		}
	}()
	return panics(n)
}

//go:noinline
func forever() {
	for {
	}
}

func work(done chan int) {
	sum := deep(3000)
	for i := 0; i < 1000; i++ {
		sum += small(i)
	}
	for i := 0; i < 10; i++ {
		sum += recovers(i)
	}
	done <- sum
}

func main() {
	var start [1]byte
	if len(os.Args) > 1 && os.Args[1] == "wait" {
		os.Stdin.Read(start[:])
	}
	if len(os.Args) > 2 {
		forever()
	}
	done := make(chan int)
	want := 3000 + 10
	for i := 0; i < 1000; i++ {
		want += small(i)
	}
	for i := 0; i < 8; i++ {
		go work(done)
	}
	for i := 0; i < 8; i++ {
		if <-done != want {
			os.Exit(1)
		}
	}
}

// Eight goroutines, each of which ends after fifty transactions and has a successor. One of eleven transactions panics two
// calls deep, and is recovered beneath the transaction; one of thirteen recurses so deep that its stack moves.
// Arguments and output as in survivor.h.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	transactionID = iota
	parseID
	attemptID
	executeID
	fetchID
	functions
)

const (
	goroutines = 8
	last       = 50
	every      = 20 * time.Millisecond
)

var (
	names   = [functions]string{"main.transaction", "main.parse", "main.attempt", "main.execute", "main.fetch"}
	longUS  = [...]int{0, 3000, 0, 1000, 0, 5000, 1000, 0, 2000, 0} // of whole milliseconds, which the runtime's timers keep
	shortUS = [...]int{0, 0, 1000, 0, 0, 1000, 0}
	culprit int
	stop    atomic.Bool

	guard sync.Mutex
	sums  [functions]struct {
		calls                 uint64
		ns, squares, products float64
	}
)

type txn struct {
	number int
	open   [functions]time.Time
	ns     [functions]float64
	calls  [functions]uint64
}

func (t *txn) enter(f int) {
	t.calls[f]++
	t.open[f] = time.Now()
}

func (t *txn) leave(f int) {
	if !t.open[f].IsZero() {
		t.ns[f] += float64(time.Since(t.open[f]))
		t.open[f] = time.Time{}
	}
}

// spin takes some 10 µs of CPU time.
func spin(t *txn) {
	sum := uint64(t.number)
	for range 8000 {
		sum = sum*6364136223846793005 + 1
	}
	if sum == 1 {
		panic("the loop is not to be dropped")
	}
}

// extra is the culprit's wait, and a little of one for the function numbered before it.
func extra(t *txn, f int) time.Duration {
	us := 0
	switch f {
	case culprit:
		us = longUS[t.number%len(longUS)]
	case (culprit+functions-3)%(functions-1) + 1:
		us = shortUS[t.number%len(shortUS)]
	}
	return time.Duration(us) * time.Microsecond
}

//go:noinline
func parse(t *txn) {
	spin(t)
	time.Sleep(extra(t, parseID))
}

//go:noinline
func deepen(levels int) byte {
	var frame [512]byte
	frame[levels%512] = byte(levels)
	if levels == 0 {
		return frame[1]
	}
	return deepen(levels-1) + frame[levels%512]
}

//go:noinline
func fetch(t *txn) {
	if t.number%13 == 0 && deepen(100) == 255 {
		panic("bytes that were never written")
	}
	spin(t)
	time.Sleep(extra(t, fetchID))
	if t.number%11 == 0 {
		panic("no such row")
	}
}

//go:noinline
func execute(t *txn) {
	spin(t)
	time.Sleep(extra(t, executeID))
	t.enter(fetchID)
	fetch(t)
	t.leave(fetchID)
}

//go:noinline
func attempt(t *txn) {
	defer func() {
		if recover() != nil {
			t.leave(fetchID)
			t.leave(executeID)
		}
	}()
	spin(t)
	time.Sleep(extra(t, attemptID))
	t.enter(executeID)
	execute(t)
	t.leave(executeID)
}

//go:noinline
func transaction(t *txn) {
	t.enter(parseID)
	parse(t)
	t.leave(parseID)
	t.enter(attemptID)
	attempt(t)
	t.leave(attemptID)
}

func serve(number int, ended *sync.WaitGroup) {
	for done := 0; done < last && !stop.Load(); done++ {
		t := txn{number: number + done}
		t.enter(transactionID)
		transaction(&t)
		t.leave(transactionID)
		guard.Lock()
		for f := range sums {
			sums[f].calls += t.calls[f]
			sums[f].ns += t.ns[f]
			sums[f].squares += t.ns[f] * t.ns[f]
			sums[f].products += t.ns[f] * t.ns[transactionID]
		}
		guard.Unlock()
	}
	if stop.Load() {
		ended.Done()
		return
	}
	go serve(number+last, ended)
}

// nowNS is CLOCK_MONOTONIC, which package time does not tell.
func nowNS() int64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func write(isLast bool) {
	guard.Lock()
	seen := sums
	guard.Unlock()
	line := fmt.Sprintf(`{"transactions": %d, "at_ns": %d, "ended": %t, "functions": {`,
		seen[transactionID].calls, nowNS(), isLast)
	for f, s := range seen {
		if f > 0 {
			line += ", "
		}
		line += fmt.Sprintf(`"%s": [%d, %.17g, %.17g, %.17g]`, names[f], s.calls, s.ns, s.squares, s.products)
	}
	if _, err := os.Stdout.WriteString(line + "}}\n"); err != nil {
		os.Exit(3)
	}
}

func main() {
	if len(os.Args) == 4 {
		for f, name := range names {
			if f > 0 && name == os.Args[3] {
				culprit = f
			}
		}
	}
	if culprit == 0 {
		fmt.Fprintf(os.Stderr, "usage: %s SECONDS VARIANT CULPRIT\n", os.Args[0])
		os.Exit(2)
	}
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		panic(err)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	var due <-chan time.Time
	if seconds > 0 {
		due = time.After(time.Duration(seconds * float64(time.Second)))
	}
	var ended sync.WaitGroup
	for i := range goroutines {
		ended.Add(1)
		go serve(23*i, &ended)
	}
	ticks := time.NewTicker(every)
	for !stop.Load() {
		select {
		case <-ticks.C:
			write(false)
		case <-asked:
			stop.Store(true)
		case <-due:
			stop.Store(true)
		}
	}
	ended.Wait()
	write(true)
}

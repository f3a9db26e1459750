// A client of the sweepd engine for Go 1.19 and later, standard library only: this file is all of it. Specification:
// protocol/protocol.md.
//
//	go run sweepd_client.go URL FILE.f64 LENGTHS [FINGERPRINT]     what it prints: docs/clients.md
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const opHello, opLoad, opFind, opSweep = 0x10, 0x12, 0x13, 0x15

var statuses = []string{"OK", "MORE", "BAD_FRAME", "UNKNOWN", "BAD_PARAM", "NOT_FOUND", "LIMIT", "CANCELLED", "DENIED", "STALE",
	"SHUTTING_DOWN", "INTERNAL", "NO_MEMORY", "BUSY"}

// None as Error.At: the error has no place.
const None = math.MaxUint64

// Error is what the engine answered; or CLOSED, REFUSED, TIMED_OUT: why there was no answer.
type Error struct {
	Status string
	At     uint64 // the place, as the specification counts it
	Text   string
}

func (e *Error) Error() string {
	if e.At == None {
		return e.Status + ": " + e.Text
	}
	return fmt.Sprintf("%s at %d: %s", e.Status, e.At, e.Text)
}

// Client is one connection: one call at a time. A call not answered within the time-out ends it.
type Client struct {
	conn    net.Conn
	timeout time.Duration
	maxBody uint64
	id      uint32
}

// Connect takes unix:PATH or tcp:HOST:PORT. The token may be empty.
func Connect(url, token string, timeout time.Duration) (*Client, error) {
	network, address, _ := strings.Cut(url, ":")
	if network != "unix" && network != "tcp" {
		return nil, &Error{"BAD_PARAM", None, fmt.Sprintf("address %q: expected unix:PATH or tcp:HOST:PORT", url)}
	}
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, &Error{"REFUSED", None, err.Error()}
	}
	c := &Client{conn: conn, timeout: timeout, maxBody: math.MaxUint32}
	name := "go"
	hello := pack([]uint16{2, 0}, []uint32{uint32(len(token)), uint32(len(name))}, []byte(token+name)) // version 2.0
	reply, err := c.call(opHello, hello, 56)
	if err != nil {
		conn.Close()
		return nil, err
	}
	c.maxBody = binary.LittleEndian.Uint64(reply[8:])
	return c, nil
}

// Close ends the connection; the engine then lets go of its series.
func (c *Client) Close() error { return c.conn.Close() }

// Series is one that the engine holds.
type Series struct {
	Handle              uint64
	Fingerprint         [16]byte
	Known, NBars, NNaN  uint64
	FirstBits, LastBits uint64
}

// Load sends closes. allow: bits of what is let in: 1 NaN, 2 infinities, 4 closes <= 0.
func (c *Client) Load(closes []float64, allow uint32) (Series, error) {
	return c.series(opLoad, pack(uint64(len(closes)), []uint32{1, allow}, closes)) // columns 1: close
}

// Find names a series loaded before by its fingerprint: nothing is sent again. NOT_FOUND: load it.
func (c *Client) Find(fingerprint [16]byte, nBars int, allow uint32) (Series, error) {
	return c.series(opFind, pack(fingerprint, uint64(nBars), []uint32{1, allow}))
}

func (c *Client) series(opcode byte, payload []byte) (s Series, err error) {
	reply, err := c.call(opcode, payload, 64)
	if err == nil {
		err = binary.Read(bytes.NewReader(reply), binary.LittleEndian, &s)
	}
	return s, err
}

// Combo is half, full, smooth, third, mid, p: window lengths in bars.
type Combo [6]int64

// ComboOfLength is what the parameter `length` stands for (docs/numbers.md).
func ComboOfLength(length int64) Combo {
	rounded := func(x float64) int64 { return int64(math.Max(1, math.RoundToEven(x))) }
	l, p := float64(length), rounded(float64(length)/2)
	return Combo{p, length, rounded(math.Sqrt(l)), rounded(float64(p) / 3), rounded(float64(p) / 2), p}
}

// Sweep gives, in the order of combos, pnl in percentage points, fees taken, and closed trades. The study's fee is 0.09.
func (c *Client) Sweep(s Series, combos []Combo, fee float64, entryAtCross bool) (pnl []float64, trades []int64, err error) {
	entry := uint64(0)
	if entryAtCross {
		entry = 1
	}
	fixed := pack(s.Handle, []uint32{1, 0}, // hma-cross; parameters as rows
		[]uint64{uint64(len(combos)), 3}, // result columns 1 + 2: pnl and trades
		[]uint32{0, 16}, fee, entry)      // no windows: the whole series; 16 bytes of options
	reply, err := c.call(opSweep, append(fixed, pack(combos)...), 16*len(combos))
	if err != nil {
		return nil, nil, err
	}
	pnl, trades = make([]float64, len(combos)), make([]int64, len(combos))
	r := bytes.NewReader(reply)
	if err = binary.Read(r, binary.LittleEndian, pnl); err == nil {
		err = binary.Read(r, binary.LittleEndian, trades)
	}
	return pnl, trades, err
}

// call sends a request and returns its reply's payload, which has replySize bytes; behind HELLO's comes a text.
func (c *Client) call(opcode byte, payload []byte, replySize int) ([]byte, error) {
	size := uint64(8 + len(payload))
	if size > c.maxBody {
		return nil, &Error{"LIMIT", None, fmt.Sprintf("a request of %d bytes, %d are allowed", size, c.maxBody)}
	}
	c.id = c.id%math.MaxInt32 + 1 // never 0: the engine's own
	c.conn.SetDeadline(time.Now().Add(c.timeout))
	frame := net.Buffers{pack(uint32(size), opcode, [3]byte{}, c.id), payload}
	_, sendError := frame.WriteTo(c.conn) // where it failed, an answer may stand there all the same, and says why
	body, err := c.readBody()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, c.end("TIMED_OUT", fmt.Sprintf("no answer within %v", c.timeout))
	} else if err != nil && sendError != nil {
		return nil, c.end("CLOSED", sendError.Error())
	} else if err != nil {
		return nil, c.end("CLOSED", "before the answer was complete: "+err.Error())
	}
	status, id, reply := body[1], binary.LittleEndian.Uint32(body[4:]), body[8:]
	sizeIsRight := len(reply) == replySize || opcode == opHello && len(reply) > replySize
	if status > 1 && len(reply) >= 24 && id == c.id {
		return nil, &Error{statusName(status), binary.LittleEndian.Uint64(reply), string(reply[24:])}
	} else if status > 1 && len(reply) >= 24 && id == 0 { // of the connection, not of a call
		return nil, c.end(statusName(status), string(reply[24:]))
	} else if status != 0 || id != c.id || body[0] != opcode|0x80 || !sizeIsRight {
		return nil, c.end("CLOSED", fmt.Sprintf("an answer of %d bytes that does not fit the request", len(body)))
	}
	return reply, nil
}

func (c *Client) readBody() ([]byte, error) {
	var size uint32
	if err := binary.Read(c.conn, binary.LittleEndian, &size); err != nil {
		return nil, err
	}
	if size < 8 || uint64(size) > c.maxBody {
		return nil, fmt.Errorf("an answer of %d bytes", size)
	}
	body := make([]byte, size)
	_, err := io.ReadFull(c.conn, body)
	return body, err
}

func (c *Client) end(status, text string) error {
	c.conn.Close()
	return &Error{status, None, text}
}

func statusName(status byte) string {
	if int(status) < len(statuses) {
		return statuses[status]
	}
	return fmt.Sprintf("status %d", status)
}

func pack(values ...any) []byte {
	var b bytes.Buffer
	for _, value := range values {
		binary.Write(&b, binary.LittleEndian, value)
	}
	return b.Bytes()
}

// ---- The program: prints what the conformance tests compare ----

// open finds the series by its fingerprint, if there is one and it is still held; else it loads it.
func open(c *Client, closes []float64, fingerprint string) (Series, string) {
	if fingerprint != "" {
		var wanted [16]byte
		copy(wanted[:], must(hex.DecodeString(fingerprint)))
		s, err := c.Find(wanted, len(closes), 0)
		if e := (*Error)(nil); !errors.As(err, &e) || e.Status != "NOT_FOUND" {
			return must(s, err), "found"
		}
	}
	return must(c.Load(closes, 0)), "loaded"
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: sweepd_client URL FILE.f64 LENGTHS [FINGERPRINT]")
		os.Exit(2)
	}
	timeout := 30 * time.Second
	if text := os.Getenv("SWEEPD_TIMEOUT_MS"); text != "" {
		timeout = must(time.ParseDuration(text + "ms"))
	}
	raw := must(os.ReadFile(os.Args[2]))
	closes := make([]float64, (len(raw)+7)/8)
	must(0, binary.Read(bytes.NewReader(raw), binary.LittleEndian, closes))
	lengths := strings.Split(os.Args[3], ",")
	combos := make([]Combo, len(lengths))
	for i, length := range lengths {
		combos[i] = ComboOfLength(must(strconv.ParseInt(length, 10, 64)))
	}
	client := must(Connect(os.Args[1], os.Getenv("SWEEPD_TOKEN"), timeout))
	defer client.Close()
	series, how := open(client, closes, strings.Join(os.Args[4:], ""))
	pnl, trades, err := client.Sweep(series, combos, 0.09, false)
	must(0, err)
	fmt.Printf("sha256 %x\nseries %x %d %s\n", sha256.Sum256(pack(pnl, trades)), series.Fingerprint, series.NBars, how)
	for i := 0; i < len(lengths) && i < 3; i++ {
		fmt.Printf("%s %.2f %d\n", lengths[i], pnl[i], trades[i])
	}
}

package plane

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Instant reads a date-time of any offset and precision.
func Instant(v gjson.Result) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(v.String())) // RFC 3339 allows a small t and z
	return t, err == nil
}

// SameInstant compares two date-times as exactly as the coarser of them is written.
func SameInstant(a, b gjson.Result) (same, comparable bool) {
	at, ok := Instant(a)
	bt, ok2 := Instant(b)
	if !ok || !ok2 {
		return false, false
	}
	if at.Equal(bt) {
		return true, true
	}
	finer, coarser := digits(a.String()), digits(b.String())
	if finer == coarser {
		return false, true
	}
	unit := time.Second
	for range min(finer, coarser) {
		unit /= 10
	}
	return at.Sub(bt).Abs() < unit, true
}

// digits counts those of the fraction of a second.
func digits(dateTime string) int {
	_, fraction, _ := strings.Cut(dateTime, ".")
	return len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
}

package script

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"go.starlark.net/starlark"
)

// Whatever a file says, loading and calling it ends soon, within its allowance, and with an error that has a place.
func FuzzScript(f *testing.F) {
	for _, body := range hostile {
		f.Add("def f():\n " + body + "\n")
	}
	f.Add("load('f.star', 'f')\n")
	f.Add("x = {i: [i] for i in range(3)}\ndef f(a=1, *b, c=2, **d): return a + c\n")
	limits := Limits{Steps: 100_000, Memory: 8 << 20, Time: time.Minute}
	control := endless(f, limits)
	f.Fuzz(func(t *testing.T, src string) {
		longest := func() time.Duration { return longestCall(t, src, limits) }
		assertBounded(t, longest(), control, limits, longest)
	})
}

// longestCall loads a file, calls each of its functions, and tells how long the longest of these took.
func longestCall(t *testing.T, src string, limits Limits) time.Duration {
	start := time.Now()
	l := NewLoader(fstest.MapFS{"f.star": {Data: []byte(src)}}, nil, nil, Options{Limits: limits})
	m, err := l.Load(context.Background(), "f.star")
	took := time.Since(start)
	if err != nil {
		if located := (*Error)(nil); !errors.As(err, &located) {
			t.Errorf("an error without a place: %v", err)
		}
		return took
	}
	for _, v := range m.globals {
		fn, ok := v.(*starlark.Function)
		if !ok {
			continue
		}
		start := time.Now()
		s := NewSession(context.Background(), "fuzz", Options{Limits: limits})
		if v, err := s.Call(fn); err == nil {
			_, _ = s.ToGo(v) // an error is as good as a value: what counts is that it ends
		}
		s.Close()
		took = max(took, time.Since(start))
	}
	return took
}

package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.starlark.net/starlark"
)

// jsonModule is json.encode and json.decode. The interpreter's own module is not used: its decoder recurses as deeply
// as its input is nested, and its encoder writes shared values out as often as they are reached.
func jsonModule() *Record {
	d := starlark.NewDict(2)
	for name, f := range map[string]guardedFunc{"encode": jsonEncode, "decode": jsonDecode} {
		if err := d.SetKey(starlark.String(name), guarded("json."+name, f)); err != nil {
			panic(err) // a new dict takes any string
		}
	}
	return NewRecord("json", d)
}

func jsonEncode(c *builtinCall) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackPositionalArgs("json.encode", c.args, c.kwargs, 1, &x); err != nil {
		return nil, err
	}
	v, err := c.toGo(x)
	if err != nil {
		return nil, fmt.Errorf("json.encode: %w", err)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("json.encode: %w", err)
	}
	s := strings.TrimSuffix(buf.String(), "\n")
	return starlark.String(s), c.text(int64(len(s)))
}

func jsonDecode(c *builtinCall) (starlark.Value, error) {
	var s string
	var otherwise starlark.Value
	if err := starlark.UnpackArgs("json.decode", c.args, c.kwargs, "x", &s, "default?", &otherwise); err != nil {
		return nil, err
	}
	if err := c.pay(times(int64(len(s)), 64), int64(len(s))/16); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("there is something behind the value")
		}
	}
	if err != nil {
		if otherwise != nil {
			return otherwise, nil
		}
		return nil, fmt.Errorf("json.decode: %w", err) // the decoder's errors quote single characters only
	}
	return c.fromGo(v)
}

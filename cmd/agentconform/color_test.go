package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestColourPrecedence(t *testing.T) {
	type env map[string]string
	for name, tt := range map[string]struct {
		mode            string
		terminal, plain bool
		env             env
		want            bool
	}{
		"a terminal":                         {mode: "auto", terminal: true, want: true},
		"no terminal":                        {mode: "auto"},
		"a dumb terminal":                    {mode: "auto", terminal: true, env: env{"TERM": "dumb"}},
		"plain output":                       {mode: "auto", terminal: true, plain: true},
		"NO_COLOR":                           {mode: "auto", terminal: true, env: env{"NO_COLOR": "0"}},
		"an empty NO_COLOR":                  {mode: "auto", terminal: true, env: env{"NO_COLOR": ""}, want: true},
		"FORCE_COLOR":                        {mode: "auto", env: env{"FORCE_COLOR": "1"}, want: true},
		"FORCE_COLOR with text":              {mode: "auto", env: env{"FORCE_COLOR": "true"}, want: true},
		"FORCE_COLOR 0":                      {mode: "auto", env: env{"FORCE_COLOR": "0"}},
		"FORCE_COLOR 0 leaves a terminal":    {mode: "auto", terminal: true, env: env{"FORCE_COLOR": "0"}, want: true},
		"an empty FORCE_COLOR":               {mode: "auto", env: env{"FORCE_COLOR": ""}},
		"FORCE_COLOR on a dumb terminal":     {mode: "auto", terminal: true, env: env{"FORCE_COLOR": "1", "TERM": "dumb"}, want: true},
		"NO_COLOR wins over FORCE_COLOR":     {mode: "auto", terminal: true, env: env{"NO_COLOR": "1", "FORCE_COLOR": "1"}},
		"plain output wins over FORCE_COLOR": {mode: "auto", plain: true, env: env{"FORCE_COLOR": "1"}},
		"always wins over NO_COLOR":          {mode: "always", env: env{"NO_COLOR": "1"}, want: true},
		"always wins over plain output":      {mode: "always", plain: true, want: true},
		"always wins over a dumb terminal":   {mode: "always", terminal: true, env: env{"TERM": "dumb"}, want: true},
		"never wins over a terminal":         {mode: "never", terminal: true},
		"never wins over FORCE_COLOR":        {mode: "never", terminal: true, env: env{"FORCE_COLOR": "1"}},
	} {
		got := colorEnabled(tt.mode, tt.terminal, tt.plain, func(key string) string { return tt.env[key] })
		assert.Equal(t, tt.want, got, name)
	}
}

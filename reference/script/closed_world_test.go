package script

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"
)

// Every function and method of the linked interpreter is classified: an update that brings a new one must be looked at.
func TestEveryFunctionOfTheInterpreterIsClassified(t *testing.T) {
	names := universe()
	for name, v := range starlark.Universe {
		if _, ok := v.(*starlark.Builtin); !ok {
			assert.Contains(t, constants, name, "%s is neither a function nor a known constant", name)
			continue
		}
		_, classified := functionGuards[name]
		_, held := withheld[name]
		assert.True(t, classified != held, "%s must be classified in functionGuards or withheld", name)
		assert.NotEqual(t, v, names[name], "%s reaches scripts unguarded", name)
	}
	for name, g := range functionGuards {
		assert.True(t, g != nil || ownFunctions[name] != nil, "%s has no guard", name)
	}
}

func TestEveryMethodOfTheInterpreterIsClassified(t *testing.T) {
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.Bytes(""), starlark.NewList(nil), starlark.NewDict(0)} {
		guards := methodGuards[v.Type()]
		require.NotNil(t, guards, v.Type())
		for _, name := range v.AttrNames() {
			g, ok := guards[name]
			assert.True(t, ok, "%s.%s is not classified", v.Type(), name)
			assert.True(t, g != nil || ownMethods[v.Type()][name] != nil, "%s.%s has no guard", v.Type(), name)
		}
		assert.Len(t, guards, len(v.AttrNames()), "%s: methods that do not exist are classified", v.Type())
	}
}

// Values that carry methods of their own would bring unguarded ones.
func TestNothingElseThatScriptsCanMakeHasMethods(t *testing.T) {
	for _, v := range []starlark.Value{starlark.None, starlark.True, starlark.MakeInt(1), starlark.Float(1), starlark.Tuple{}} {
		_, ok := v.(starlark.HasAttrs)
		assert.False(t, ok, v.Type())
	}
}

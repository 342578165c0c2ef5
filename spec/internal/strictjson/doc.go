// Package strictjson decodes untrusted JSON, and reports what is wrong with the text.
//
// encoding/json accepts too much for this purpose: it replaces invalid UTF-8, keeps the last of several equal
// keys, and a decoder stops after the first value. It is not a fast path for anything else: where the text is known to be
// good, use encoding/json.
package strictjson

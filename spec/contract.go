package spec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/pb33f/jsonschema/v6"
	"github.com/pb33f/libopenapi-validator/openapi_vocabulary"
)

// The extensions of the documents, see their descriptions.
const (
	extField          = "x-field"
	extBodyOptional   = "x-body-optional"
	extCommaSeparated = "x-comma-separated"
	extKnownValues    = "x-known-values"
)

const jsonType = "application/json"

// contract is one document, compiled.
type contract struct {
	operations []*operation
	enums      map[string][]string // values by field: "Revision.status"
}

type operation struct {
	Operation
	place       int      // position in the document
	segments    []string // segments of the path template
	parameters  map[string]*parameter
	body        *jsonschema.Schema // body of the request, or nil
	bodyMissing bool               // the request may have no body
	responses   map[string]*response
}

type parameter struct {
	Parameter
	schema *jsonschema.Schema
}

// response is one declared response.
type response struct {
	contentTypes []string           // empty if any content type and body are allowed
	bodyOptional bool               // the response may have no body although a content type is declared
	schema       *jsonschema.Schema // nil if any body is allowed
}

// compiler reads a document with the model of kin-openapi.
type compiler struct {
	side     Side
	model    *openapi3.T
	schemas  *jsonschema.Compiler
	document []byte
}

// place returns the offset of the last line that equals the given one. It determines the order of operations, which the
// model does not have. A model with line numbers would take longer to load than everything else.
func (c *compiler) place(line string) int { return bytes.LastIndex(c.document, []byte("\n"+line+"\n")) }

func compile(side Side, document []byte) (*contract, error) {
	model, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("reading the %s document: %w", side, err)
	}
	schemas, err := newSchemas(model)
	if err != nil {
		return nil, fmt.Errorf("reading the %s document: %w", side, err)
	}
	c := &compiler{side, model, schemas, document}
	result := &contract{enums: c.enums()}
	for _, path := range model.Paths.Keys() { // sorted, so that an error is the same each time
		item := model.Paths.Value(path)
		for method, declared := range item.Operations() {
			compiled, err := c.operation(path, method, item, declared)
			if err != nil {
				return nil, fmt.Errorf("compiling operation %s of the %s document: %w", declared.OperationID, side, err)
			}
			result.operations = append(result.operations, compiled)
		}
	}
	slices.SortFunc(result.operations, func(a, b *operation) int { return a.place - b.place })
	return result, nil
}

func (c *compiler) operation(path, method string, item *openapi3.PathItem, declared *openapi3.Operation) (
	*operation, error,
) {
	result := &operation{
		Operation: Operation{
			ID: declared.OperationID, Side: c.side, Method: method, Path: path, Field: declared.Extensions[extField] == true,
		},
		place:      c.place("      operationId: " + declared.OperationID),
		segments:   segmentsOf(path),
		parameters: map[string]*parameter{},
		responses:  map[string]*response{},
	}
	ofPath := below("#/paths", path)
	ofOperation := below(ofPath, strings.ToLower(method))
	if err := c.addParameters(result, ofPath, item.Parameters); err != nil {
		return nil, err
	}
	if err := c.addParameters(result, ofOperation, declared.Parameters); err != nil {
		return nil, err
	}
	if declared.RequestBody != nil {
		body := declared.RequestBody.Value
		schema, err := c.bodySchema(cmp.Or(declared.RequestBody.Ref, below(ofOperation, "requestBody")), body.Content)
		if err != nil {
			return nil, fmt.Errorf("request body: %w", err)
		}
		result.body, result.bodyMissing, result.Example = schema, !body.Required, body.Content.Get(jsonType).Example
	}
	for _, status := range declared.Responses.Keys() { // sorted
		each := declared.Responses.Value(status)
		compiled, err := c.response(cmp.Or(each.Ref, below(ofOperation, "responses", status)), each.Value)
		if err != nil {
			return nil, fmt.Errorf("response %s: %w", status, err)
		}
		result.responses[status] = compiled
		result.Statuses = append(result.Statuses, status)
	}
	return result, nil
}

// addParameters adds the parameters that a path or an operation declares. owner is the pointer to it.
func (c *compiler) addParameters(to *operation, owner string, declared openapi3.Parameters) error {
	for i, p := range declared {
		compiled, err := c.parameter(cmp.Or(p.Ref, below(owner, "parameters", strconv.Itoa(i))), p.Value)
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Value.Name, err)
		}
		to.parameters[compiled.Name] = compiled
		to.Parameters = append(to.Parameters, compiled.Parameter)
	}
	return nil
}

func (c *compiler) parameter(pointer string, declared *openapi3.Parameter) (*parameter, error) {
	schema := declared.Schema.Value
	result := &parameter{Parameter: Parameter{
		Name: declared.Name, In: declared.In, Enum: texts(schema.Enum),
		Minimum: schema.Min, Maximum: schema.Max, Default: schema.Default,
	}}
	for _, name := range schema.Type.Slice() {
		if name != "null" {
			result.Type = name
		}
	}
	if name, is := declared.Extensions[extCommaSeparated].(string); is {
		item := c.model.Components.Schemas[name]
		if item == nil {
			return nil, fmt.Errorf("%s names the unknown schema %q", extCommaSeparated, name)
		}
		result.List, result.Enum = true, texts(item.Value.Enum)
	}
	compiled, err := c.schema(below(pointer, "schema"))
	result.schema = compiled
	return result, err
}

func (c *compiler) response(pointer string, declared *openapi3.Response) (result *response, err error) {
	result = &response{
		contentTypes: slices.Collect(maps.Keys(declared.Content)),
		bodyOptional: declared.Extensions[extBodyOptional] == true,
	}
	if len(result.contentTypes) > 0 {
		result.schema, err = c.bodySchema(pointer, declared.Content)
	}
	return result, err
}

// bodySchema compiles the schema of a JSON body. owner is the pointer to the object that declares the content.
func (c *compiler) bodySchema(owner string, content openapi3.Content) (*jsonschema.Schema, error) {
	media := content[jsonType]
	if media == nil || media.Schema == nil {
		return nil, errors.New("no schema for " + jsonType)
	}
	return c.schema(below(owner, "content", jsonType, "schema"))
}

// schema compiles the schema at a JSON pointer of the document.
func (c *compiler) schema(pointer string) (*jsonschema.Schema, error) {
	location := url.URL{Path: documentName, Fragment: strings.TrimPrefix(pointer, "#")}
	compiled, err := c.schemas.Compile(location.String())
	if err != nil {
		return nil, fmt.Errorf("compiling the schema: %w", err)
	}
	return compiled, nil
}

// documentName is the address of the document for the compiler of schemas.
const documentName = "openapi"

// newSchemas returns a compiler of the schemas in a document. Like the validators of libopenapi-validator, it supports
// the keywords of OpenAPI 3.1 and checks formats. The package helpers of that library exports such a compiler, but
// building it takes longer than building all other code.
func newSchemas(model *openapi3.T) (*jsonschema.Compiler, error) {
	text, err := json.Marshal(model)
	if err != nil {
		return nil, fmt.Errorf("writing the document as JSON: %w", err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the document as JSON: %w", err)
	}
	schemas := jsonschema.NewCompiler()
	schemas.AssertFormat()
	schemas.RegisterVocabulary(openapi_vocabulary.NewOpenAPIVocabulary(openapi_vocabulary.Version31))
	schemas.AssertVocabs()
	if err := schemas.AddResource(documentName, document); err != nil {
		return nil, fmt.Errorf("reading the schemas: %w", err)
	}
	return schemas, nil
}

// below returns a JSON pointer to a child of another one.
func below(pointer string, segments ...string) string {
	for _, segment := range segments {
		pointer += "/" + pointerEscaper.Replace(segment)
	}
	return pointer
}

// texts returns the strings in a list of values.
func texts(values []any) (all []string) {
	for _, value := range values {
		if text, is := value.(string); is {
			all = append(all, text)
		}
	}
	return all
}

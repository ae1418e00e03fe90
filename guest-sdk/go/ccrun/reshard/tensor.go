package reshard

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Tensor is an array in row-major order, of any number of dimensions: none is a
// single element.
type Tensor struct {
	Name  string
	Dtype ccrun.Dtype
	Shape []int64
}

// Bytes is how many bytes of the tensor a rank holds in a layout.
func (t *Tensor) Bytes(l Layout, rank int) int64 {
	box, ok := l.Local(t.Shape, rank)
	if !ok {
		return 0
	}
	return box.Elements() * t.Dtype.Bytes()
}

// Size is how many bytes the whole tensor has.
func (t *Tensor) Size() int64 {
	bytes := t.Dtype.Bytes()
	for _, n := range t.Shape {
		bytes *= n
	}
	return bytes
}

// check says what is wrong with a tensor, nil if nothing is.
func (t *Tensor) check() error {
	if int(t.Dtype) >= len(dtypes) {
		return fmt.Errorf("unknown element type %d", t.Dtype)
	}
	for _, n := range t.Shape {
		if n < 0 {
			return fmt.Errorf("shape %v has a negative dimension", t.Shape)
		}
	}
	if slices.Contains(t.Shape, 0) {
		return nil
	}
	bytes := t.Dtype.Bytes()
	for _, n := range t.Shape {
		if bytes > math.MaxInt64/n {
			return fmt.Errorf("shape %v is more than 2^63-1 bytes", t.Shape)
		}
		bytes *= n
	}
	return nil
}

var dtypes = [...]string{
	ccrun.U8: "u8", ccrun.I32: "i32", ccrun.I64: "i64",
	ccrun.F16: "f16", ccrun.BF16: "bf16", ccrun.F32: "f32", ccrun.F64: "f64",
}

// ParseDtype reads the name of an element type.
func ParseDtype(text string) (ccrun.Dtype, error) {
	i := slices.Index(dtypes[:], text)
	if i < 0 || text == "" {
		return 0, fmt.Errorf("element type %q is none of %s", text, strings.Join(dtypes[:], " "))
	}
	return ccrun.Dtype(i), nil
}

// ParseTensor reads the text form of a tensor, shape and type: "4096x4096:bf16"
// without a name or "w=4096x4096:bf16" with one; ":f32" is a single element.
func ParseTensor(text string) (Tensor, error) {
	name, kind, named := strings.Cut(text, "=")
	if !named {
		name, kind = "", text
	}
	shape, dtype, typed := strings.Cut(kind, ":")
	if !typed {
		return Tensor{}, fmt.Errorf("tensor %q: write shape and type, like 4096x4096:bf16", text)
	}
	t := Tensor{Name: name}
	var err error
	if t.Dtype, err = ParseDtype(dtype); err != nil {
		return Tensor{}, fmt.Errorf("tensor %q: %w", text, err)
	}
	if shape == "" {
		return t, nil
	}
	for _, part := range strings.Split(shape, "x") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != part {
			return Tensor{}, fmt.Errorf("tensor %q: bad dimension %q", text, part)
		}
		t.Shape = append(t.Shape, n)
	}
	if err := t.check(); err != nil {
		return Tensor{}, fmt.Errorf("tensor %q: %w", text, err)
	}
	return t, nil
}

// String is the tensor as text.
func (t Tensor) String() string {
	dtype := "type " + strconv.Itoa(int(t.Dtype))
	if int(t.Dtype) < len(dtypes) {
		dtype = dtypes[t.Dtype]
	}
	sizes := make([]string, len(t.Shape))
	for i, n := range t.Shape {
		sizes[i] = strconv.FormatInt(n, 10)
	}
	name := ""
	if t.Name != "" {
		name = t.Name + "="
	}
	return name + strings.Join(sizes, "x") + ":" + dtype
}

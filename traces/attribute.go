package traces

// Attribute is a key and a value: exactly one of string, integer, float and
// bool, as Kind says.
type Attribute struct {
	Key   string
	Kind  AttributeKind
	Text  string
	Int   int64
	Float float64
	Bool  bool
}

// AttributeKind says which field of an [Attribute] holds its value.
type AttributeKind uint8

// The kinds of attributes.
const (
	AttributeText AttributeKind = iota
	AttributeInt
	AttributeFloat
	AttributeBool
)

func textAttr(key, value string) Attribute {
	return Attribute{Key: key, Kind: AttributeText, Text: value}
}

func intAttr[T ~int | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64](key string, value T) Attribute {
	return Attribute{Key: key, Kind: AttributeInt, Int: int64(value)}
}

func floatAttr(key string, value float64) Attribute {
	return Attribute{Key: key, Kind: AttributeFloat, Float: value}
}

func boolAttr(key string, value bool) Attribute {
	return Attribute{Key: key, Kind: AttributeBool, Bool: value}
}

package oplog

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// form is a number that depends on the rank: base + stride * ((rank + shift) mod ranks).
type form struct {
	base, stride int64
	shift        int32
}

func (f *form) at(rank, ranks int) int64 {
	turned := int64(rank) + int64(f.shift)
	if turned >= int64(ranks) {
		turned -= int64(ranks)
	}
	return f.base + f.stride*turned
}

// append appends a form as [parser.form] reads it.
func (f *form) append(b []byte) []byte {
	if f.stride == 0 {
		return strconv.AppendUint(b, uint64(f.base), 10)
	}
	b = append(b, '{')
	stride := f.stride
	if f.base != 0 || stride < 0 {
		b = strconv.AppendUint(b, uint64(f.base), 10)
		if stride >= 0 {
			b = append(b, '+')
		}
	}
	size := uint64(stride)
	if stride < 0 {
		b, size = append(b, '-'), -size
	}
	if size != 1 {
		b = append(strconv.AppendUint(b, size, 10), '*')
	}
	if f.shift == 0 {
		return append(b, "r}"...)
	}
	b = strconv.AppendInt(append(b, "(r+"...), int64(f.shift), 10)
	return append(b, ")}"...)
}

// form reads a number that depends on the rank: {base+stride*(r+shift)}.
func (p *parser) form(most uint64) (form, error) {
	text := p.rest()
	bad := func(why string) (form, error) { return form{}, fmt.Errorf("%s: %s", clip(text), why) }
	p.accept("{")
	var f form
	negative := false
	size := uint64(1)
	if !p.atRank() {
		first, err := p.decimal(math.MaxUint64)
		if err != nil {
			return form{}, err
		}
		if p.accept("*") {
			size = first
		} else {
			f.base = int64(first)
			negative = p.accept("-")
			if !negative && !p.accept("+") {
				return bad("not like {base+stride*(r+shift)}")
			}
			if !p.atRank() {
				if size, err = p.decimal(math.MaxUint64); err != nil {
					return form{}, err
				}
				if !p.accept("*") {
					return bad("not like {base+stride*(r+shift)}")
				}
			}
		}
	}
	if !p.accept("r") {
		p.accept("(r+")
		shift, err := p.decimal(uint64(p.size - 1))
		if err != nil || shift == 0 || !p.accept(")") {
			return bad("not a shift")
		}
		f.shift = int32(shift)
	}
	if !p.accept("}") {
		return bad("not like {base+stride*(r+shift)}")
	}
	f.stride = int64(size)
	if negative {
		f.stride = -f.stride
	}
	if string(f.append(nil)) != text[:len(text)-len(p.rest())] {
		return bad("not as it is printed")
	}
	if !f.within(p.size, most) {
		return bad(fmt.Sprintf("not within 0 to %d for all ranks", most))
	}
	return f, nil
}

func (p *parser) atRank() bool {
	return strings.HasPrefix(p.rest(), "r") || strings.HasPrefix(p.rest(), "(r+")
}

// within reports whether a form is a number from 0 to most for all ranks.
func (f *form) within(size int, most uint64) bool {
	if most == math.MaxUint64 {
		return true // any 64 bits, and arithmetic that wraps around
	}
	magnitude := uint64(f.stride)
	if f.stride < 0 {
		magnitude = -magnitude
	}
	high, span := bits.Mul64(magnitude, uint64(size-1))
	base := uint64(f.base)
	if high != 0 || base > most {
		return false
	}
	if f.stride < 0 {
		return span <= base
	}
	return span <= most-base
}

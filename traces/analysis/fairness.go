package analysis

// Jain is Jain's fairness index, (sum x)^2 / (n * sum x^2): 1 if all values
// are equal, 1/n if one has everything. Of no values, or of zeros, it is 1.
func Jain(values []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(values)) * squares)
}

// MaxToMean is the largest value over the mean, 1 of no values or of zeros.
func MaxToMean(values []float64) float64 {
	sum, largest := 0.0, 0.0
	for _, v := range values {
		sum += v
		largest = max(largest, v)
	}
	if sum == 0 {
		return 1
	}
	return largest * float64(len(values)) / sum
}

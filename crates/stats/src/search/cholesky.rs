//! The Cholesky factor of a covariance matrix: the linear algebra that predictions from correlated
//! readings need.

/// The lower factor L of a symmetric positive matrix A = L Lᵀ, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factorises the matrix whose entry in row `i` and column `j ≤ i` is `entry(i, j)`; `None` if
    /// the matrix is not positive definite.
    pub(super) fn new(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Cholesky> {
        let mut lower = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                let (above, row) = lower.split_at(i * size);
                let other = if i == j { row } else { &above[j * size..] };
                let rest = entry(i, j) - product(&row[..j], &other[..j]);
                lower[i * size + j] = if i == j {
                    if rest <= 0.0 || rest.is_nan() {
                        return None;
                    }
                    rest.sqrt()
                } else {
                    rest / above[j * size + j]
                };
            }
        }
        Some(Cholesky { size, lower })
    }

    /// Solves L x = b.
    pub(super) fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for i in 0..self.size {
            let row = self.row(i);
            x[i] = (x[i] - product(&row[..i], &x[..i])) / row[i];
        }
        x
    }

    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        for i in (0..self.size).rev() {
            x[i] /= self.row(i)[i];
            let (before, here) = x.split_at_mut(i);
            before.iter_mut().zip(self.row(i)).for_each(|(x, a)| *x -= a * here[0]);
        }
        x
    }

    /// The product L x.
    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.size).map(|i| product(&self.row(i)[..=i], &x[..=i])).collect()
    }

    pub(super) fn log_determinant(&self) -> f64 {
        2.0 * (0..self.size).map(|i| self.row(i)[i].ln()).sum::<f64>()
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.lower[i * self.size..(i + 1) * self.size]
    }
}

/// The scalar product of two rows of equal length. A search spends most of its time here: eight
/// independent sums are several times as fast as one.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX_A: [[f64; 3]; 3] = [[4.0, 2.0, 0.6], [2.0, 5.0, 1.5], [0.6, 1.5, 3.0]];

    fn factor() -> Cholesky {
        Cholesky::new(3, |i, j| MATRIX_A[i][j]).unwrap()
    }

    #[test]
    fn a_solution_multiplied_out_gives_the_right_side() {
        let x = factor().solve(&[1.0, -2.0, 3.0]);
        let b: Vec<f64> = MATRIX_A.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        assert!(b.iter().zip([1.0, -2.0, 3.0]).all(|(is, was)| (is - was).abs() < 1e-12), "{b:?}");
    }

    #[test]
    fn the_factor_has_the_right_determinant_and_forward_substitution_inverts_it() {
        // The determinant is 4 · (15 − 2.25) − 2 · (6 − 0.9) + 0.6 · (3 − 3).
        assert!((factor().log_determinant().exp() - 40.8).abs() < 1e-9);
        let back = factor().times(&factor().forward(&[1.0, -2.0, 3.0]));
        assert!(back.iter().zip([1.0, -2.0, 3.0]).all(|(is, was)| (is - was).abs() < 1e-12), "{back:?}");
    }

    #[test]
    fn a_product_has_every_term_once() {
        for length in 0..40_u32 {
            let row: Vec<f64> = (1..=length).map(f64::from).collect();
            let squares = f64::from(length * (length + 1) * (2 * length + 1) / 6);
            assert_eq!(product(&row, &row), squares);
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert_eq!(Cholesky::new(2, |i, j| if i == j { 1.0 } else { 2.0 }), None);
        assert_eq!(Cholesky::new(1, |_, _| f64::NAN), None);
    }
}

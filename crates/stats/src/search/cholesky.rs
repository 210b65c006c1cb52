//! The Cholesky factor of a covariance: what is needed of linear algebra to predict from readings
//! that depend on each other.

/// The lower factor L of a symmetric positive matrix A = L Lᵀ, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Of the matrix whose entry in row `i` and column `j ≤ i` is `entry(i, j)`; `None` if it is not
    /// positive.
    pub(super) fn new(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Cholesky> {
        let mut lower = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                let (above, row) = lower.split_at(i * size);
                let done: f64 = if i == j {
                    row[..j].iter().map(|it| it * it).sum()
                } else {
                    row[..j].iter().zip(&above[j * size..]).map(|(a, b)| a * b).sum()
                };
                let rest = entry(i, j) - done;
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
            let done: f64 = row[..i].iter().zip(&x).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - done) / row[i];
        }
        x
    }

    /// Solves A x = b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        for i in (0..self.size).rev() {
            x[i] /= self.row(i)[i];
            let (before, here) = x.split_at_mut(i);
            before.iter_mut().zip(self.row(i)).for_each(|(x, a)| *x -= a * here[0]);
        }
        x
    }

    /// L x.
    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.size).map(|i| self.row(i)[..=i].iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    pub(super) fn log_determinant(&self) -> f64 {
        2.0 * (0..self.size).map(|i| self.row(i)[i].ln()).sum::<f64>()
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.lower[i * self.size..(i + 1) * self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [[f64; 3]; 3] = [[4.0, 2.0, 0.6], [2.0, 5.0, 1.5], [0.6, 1.5, 3.0]];

    fn factor() -> Cholesky {
        Cholesky::new(3, |i, j| A[i][j]).unwrap()
    }

    #[test]
    fn a_solution_multiplied_out_gives_the_right_side() {
        let x = factor().solve(&[1.0, -2.0, 3.0]);
        let b: Vec<f64> = A.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        assert!(b.iter().zip([1.0, -2.0, 3.0]).all(|(is, was)| (is - was).abs() < 1e-12), "{b:?}");
    }

    #[test]
    fn the_factor_has_the_determinant_and_gives_back_what_went_forward() {
        // 4 · (15 − 2.25) − 2 · (6 − 0.9) + 0.6 · (3 − 3)
        assert!((factor().log_determinant().exp() - 40.8).abs() < 1e-9);
        let back = factor().times(&factor().forward(&[1.0, -2.0, 3.0]));
        assert!(back.iter().zip([1.0, -2.0, 3.0]).all(|(is, was)| (is - was).abs() < 1e-12), "{back:?}");
    }

    #[test]
    fn a_matrix_that_is_not_positive_has_none() {
        assert_eq!(Cholesky::new(2, |i, j| if i == j { 1.0 } else { 2.0 }), None);
        assert_eq!(Cholesky::new(1, |_, _| f64::NAN), None);
    }
}

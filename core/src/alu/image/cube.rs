//! Cube maps: a direction from the centre of a cube meets one of its faces (CUDA guide, "Cubemap Textures"; PTX ISA 9.7.10.3).

/// The face that a direction meets, and where: in texels of a face with so many of them in a row.
///
/// The coordinate of the largest magnitude says which face; of equal ones x goes before y, and y before z (D-texture-cube).
pub(super) fn met(direction: [f32; 3], size: u32) -> (u32, [f64; 2]) {
    let [x, y, z] = direction.map(f64::from);
    let (face, m, s, t) = if x.abs() >= y.abs() && x.abs() >= z.abs() {
        if x >= 0.0 { (0, x, -z, -y) } else { (1, -x, z, -y) }
    } else if y.abs() >= z.abs() {
        if y >= 0.0 { (2, y, x, z) } else { (3, -y, x, -z) }
    } else if z >= 0.0 {
        (4, z, x, -y)
    } else {
        (5, -z, -x, -y)
    };
    // (s/m + 1) / 2 of the size, with one division, so that what lies on an edge of a texel stays there.
    let place = |s: f64| (s + m) * f64::from(size) / (2.0 * m);
    (face, [place(s), place(t)])
}

#[cfg(test)]
mod tests {
    use super::met;

    #[test]
    fn each_axis_meets_the_middle_of_its_face() {
        let axes = [[1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]];
        for (face, axis) in (0..).zip(axes) {
            assert_eq!(met(axis, 8), (face, [4.0, 4.0]));
        }
    }

    #[test]
    fn s_and_t_go_as_in_the_guide() {
        assert_eq!(met([2., 1., -2.], 4), (0, [4.0, 1.0]));
        assert_eq!(met([-4., 0., 1.], 4), (1, [2.5, 2.0]));
        assert_eq!(met([1., 2., 0.5], 4), (2, [3.0, 2.5]));
        assert_eq!(met([1., -2., 0.5], 4), (3, [3.0, 1.5]));
        assert_eq!(met([1., 0., 2.], 4), (4, [3.0, 2.0]));
        assert_eq!(met([1., 0., -2.], 4), (5, [1.0, 2.0]));
    }
}

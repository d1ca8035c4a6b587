//! Cube maps: a direction from the centre of a cube meets one of its faces (CUDA guide, "Cubemap Textures"; PTX ISA 9.7.10.3).

/// The face that a direction meets, and where on it: from -1 to 1 along both axes, or no number.
///
/// As on an H200, the direction is first multiplied with the reciprocal of its largest magnitude, in single precision, so that an infinite
/// coordinate is no number and the others are 0. Then the coordinate of the largest magnitude says which face; of equal ones z goes before y, and y
/// before x (D-texture-cube).
pub(super) fn met(direction: [f32; 3]) -> (u32, [f32; 2]) {
    let largest = direction.iter().fold(f32::NAN, |most, x| most.max(x.abs()));
    let [x, y, z] = direction.map(|x| x * (1.0 / largest));
    // What is no number is the largest one only if there is nothing else: then it is x.
    let [a, b, c] = [x, y, z].map(|x| if x.is_nan() { -1.0 } else { x.abs() });
    if c >= a.max(b).max(0.0) {
        return if z < 0.0 { (5, [-x, -y]) } else { (4, [x, -y]) };
    }
    if b >= a.max(0.0) {
        return if y < 0.0 { (3, [x, -z]) } else { (2, [x, z]) };
    }
    if x < 0.0 { (1, [z, -y]) } else { (0, [-z, -y]) }
}

#[cfg(test)]
mod tests {
    use super::met;

    #[test]
    fn each_axis_meets_the_middle_of_its_face() {
        let axes = [[1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]];
        for (face, axis) in (0..).zip(axes) {
            assert_eq!(met(axis), (face, [0.0, 0.0]));
        }
    }

    #[test]
    fn s_and_t_go_as_in_the_guide() {
        assert_eq!(met([2., 1., -1.]), (0, [0.5, -0.5]));
        assert_eq!(met([-4., 0., 1.]), (1, [0.25, 0.0]));
        assert_eq!(met([1., 2., 0.5]), (2, [0.5, 0.25]));
        assert_eq!(met([1., -2., 0.5]), (3, [0.5, -0.25]));
        assert_eq!(met([1., 0., 2.]), (4, [0.5, 0.0]));
        assert_eq!(met([1., 0., -2.]), (5, [-0.5, 0.0]));
    }

    #[test]
    fn of_equal_ones_the_last_axis_goes_first() {
        assert_eq!(met([1., -1., -1.]), (5, [-1.0, 1.0]));
        assert_eq!(met([0.1, 0.1, 0.0]), (2, [1.0, 0.0]));
        assert_eq!(met([-3., 0., 3.]), (4, [-1.0, 0.0]));
    }

    /// The faces are those of an H200.
    #[test]
    fn infinite_ones_and_what_is_no_number_have_faces() {
        let face = |direction| met(direction).0;
        let [inf, nan] = [f32::INFINITY, f32::NAN];
        assert_eq!([[1., 2., inf], [-1., -2., -inf], [inf, 1., inf]].map(face), [2; 3]);
        assert_eq!([[1., inf, 2.], [-1., -inf, -2.], [-inf, -1., -2.], [-inf, nan, -1.]].map(face), [4; 4]);
        assert_eq!([[1., 0.5, nan], [1., -2., nan], [1., nan, -2.], [nan, 1., nan]].map(face), [0, 3, 5, 2]);
        assert!(met([1., nan, -2.]).1[1].is_nan());
    }
}

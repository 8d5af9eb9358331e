#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

package import NotificationModel
/// The side of a region's boundary on which a device is.
package enum RegionSide: UInt8, Sendable {
    case inside, outside
}

extension CircularRegion {
    /// The mean radius of the Earth in metres. The Earth is no sphere: a distance is wrong by at most 0.6 %.
    static let earthRadius = 6_371_008.8

    /// How far beyond the boundary a device must be to count as outside, in metres: a tenth of the radius, from 20 to 200.
    ///
    /// A device that rests near the boundary would cross it with each fix. As in Core Location, a crossing counts only when
    /// the device is clearly on the other side.
    package var margin: Double { min(200, max(20, radius / 10)) }

    /// The distance in metres from the centre to a point, along a great circle.
    package func distance(latitude: Double, longitude: Double) -> Double {
        let radians = Double.pi / 180
        let (from, to) = (self.latitude * radians, latitude * radians)
        let north = sin((to - from) / 2)
        let east = sin((longitude - self.longitude) * radians / 2)
        // Rounding may leave the range in which the root and the arc sine have values.
        let haversine = min(1, max(0, north * north + cos(from) * cos(to) * east * east))
        return 2 * Self.earthRadius * asin(haversine.squareRoot())
    }

    /// The side on which a fix certainly is; nil when its accuracy, or the margin, allows both.
    ///
    /// Inside, the whole circle of accuracy is within the radius; outside, all of it is beyond the radius and the margin.
    package func side(of fix: LocationFix) -> RegionSide? {
        let distance = distance(latitude: fix.latitude, longitude: fix.longitude)
        if distance + fix.accuracy <= radius { return .inside }
        return distance - fix.accuracy > radius + margin ? .outside : nil
    }
}

import Foundation
import NotificationModel
import NotificationState
import Testing
import TestSupport

@Suite("Regions")
struct RegionSideTests {
    /// Computed in Python with another formula (Vincenty's, on the same sphere).
    private static let distances: [(from: (Double, Double), to: (Double, Double), metres: Double)] = [
        ((31.2304, 121.4737), (39.9042, 116.4074), 1_067_311.6451587258),
        ((31.2304, 121.4737), (31.2305, 121.4737), 11.119508023117755),
        ((52.52, 13.405), (-33.8688, 151.2093), 16_094_522.180747988),
        ((90, 0), (89.999, 180), 111.19508023402328),
        ((-90, 17), (-89.999, -163), 111.19508023402328),
        ((89.999, 0), (89.999, 180), 222.39016046726636),
        ((0, 179.999), (0, -179.999), 222.39016047087586),
        ((0, 0), (0, 180), 20_015_114.442035925),
        ((48.8566, 2.3522), (48.8566, 2.3522), 0),
    ]

    @Test("distances at the poles, across the date line and to the antipode", arguments: distances)
    func distance(from: (Double, Double), to: (Double, Double), metres: Double) {
        let there = CircularRegion(latitude: from.0, longitude: from.1, radius: 1)
            .distance(latitude: to.0, longitude: to.1)
        let back = CircularRegion(latitude: to.0, longitude: to.1, radius: 1)
            .distance(latitude: from.0, longitude: from.1)
        // Near the antipode a rounding error of the sine is metres.
        let tolerance = metres > 2e7 ? 10 : 1e-6 + metres * 1e-9
        #expect(abs(there - metres) <= tolerance && abs(back - metres) <= tolerance, "\(there) \(back)")
    }

    @Test("no distance is not a number, also between points that are almost antipodes")
    func antipodes() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<10_000 {
            let latitude = Double.random(in: -90...90, using: &generator)
            let longitude = Double.random(in: -180...180, using: &generator)
            let region = CircularRegion(latitude: latitude, longitude: longitude, radius: 1)
            let other = longitude > 0 ? longitude - 180 : longitude + 180
            let distance = region.distance(latitude: -latitude, longitude: other)
            #expect(distance > 20_015_000 && distance < 20_015_200)
        }
    }

    /// A fix so many metres north of the region at the equator.
    private static func fix(_ metres: Double, accuracy: Double = 0) -> LocationFix {
        LocationFix(
            device: "d",
            latitude: metres / 6_371_008.8 * 180 / .pi,
            longitude: 0,
            accuracy: accuracy,
            at: Timestamp(rawValue: 0)
        )
    }

    private static let region = CircularRegion(latitude: 0, longitude: 0, radius: 300)

    @Test(
        "a side counts when the whole circle of accuracy is on it, outside also beyond the margin",
        arguments: [
            (0, 0, RegionSide.inside), (0, 299, .inside), (0, 301, nil), (299, 0, .inside), (280, 15, .inside),
            (280, 25, nil), (301, 0, nil), (329, 0, nil), (331, 0, .outside), (345, 10, .outside), (345, 20, nil),
            (1_000, 669, .outside), (1_000, 671, nil), (5_000_000, 20_000_000, nil),
        ] as [(Double, Double, RegionSide?)]
    )
    func sides(_ metres: Double, _ accuracy: Double, _ side: RegionSide?) {
        #expect(Self.region.margin == 30)
        #expect(Self.region.side(of: Self.fix(metres, accuracy: accuracy)) == side)
    }

    @Test("the margin is a tenth of the radius, from 20 to 200 metres", arguments: [(1, 20), (250, 25), (9_999, 200)])
    func margin(_ radius: Double, _ margin: Double) {
        #expect(CircularRegion(latitude: 0, longitude: 0, radius: radius).margin == margin)
    }

    @Test("the largest region has no outside")
    func largest() {
        let region = CircularRegion(latitude: 0, longitude: 0, radius: ModelLimits.regionRadius)
        let fix = LocationFix(device: "d", latitude: 0, longitude: 180, at: Timestamp(rawValue: 0))
        #expect(region.side(of: fix) == .inside)
    }
}

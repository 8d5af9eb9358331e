import NotificationModel
import NotificationState
import Testing

@Suite("The regions of a recipient")
struct RecipientRegionsTests {
    private static let here = CircularRegion(latitude: 31.2304, longitude: 121.4737, radius: 200)
    private static let both = LocationTrigger(region: here, notifyOnEntry: true, notifyOnExit: true, repeats: true)

    private static func fix(_ isInside: Bool, _ at: Int64, _ device: String = "phone") -> LocationFix {
        LocationFix(
            device: device,
            latitude: isInside ? 31.2304 : 31.3,
            longitude: 121.4737,
            accuracy: 15,
            at: Timestamp(rawValue: at)
        )
    }

    private static func record(_ trigger: LocationTrigger = both) -> RecipientRecord {
        var record = RecipientRecord()
        _ = record.wait(for: trigger, "shop", StateSamples.uuid(1))
        return record
    }

    private static func crossings(_ record: inout RecipientRecord, _ fix: LocationFix) -> [String]? {
        record.locate(fix)?.map(\.identifier)
    }

    @Test("the first certain fix sets the side and is no crossing; from then on each change is one")
    func initialSide() {
        for first in [true, false] {
            var record = Self.record()
            // Uncertain: it changes no side.
            var uncertain = Self.fix(first, 1)
            uncertain.accuracy = 10_000_000
            #expect(Self.crossings(&record, uncertain) == [])
            #expect(Self.crossings(&record, Self.fix(first, 2)) == [])
            #expect(Self.crossings(&record, Self.fix(first, 3)) == [])
            #expect(Self.crossings(&record, Self.fix(!first, 4)) == ["shop"])
            #expect(Self.crossings(&record, Self.fix(!first, 5)) == [])
            #expect(Self.crossings(&record, Self.fix(first, 6)) == ["shop"])
        }
    }

    @Test("only the directions that the request names count, and the others arm them again")
    func directions() {
        for (entry, exit) in [(true, false), (false, true)] {
            var trigger = Self.both
            (trigger.notifyOnEntry, trigger.notifyOnExit) = (entry, exit)
            var record = Self.record(trigger)
            let found = [false, true, false, true].enumerated().map {
                Self.crossings(&record, Self.fix($1, Int64($0))) ?? []
            }
            #expect(found == [[], entry ? ["shop"] : [], exit ? ["shop"] : [], entry ? ["shop"] : []])
        }
    }

    @Test("a fix that is not later than the last one of its device changes nothing")
    func late() {
        var record = Self.record()
        #expect(Self.crossings(&record, Self.fix(false, 10)) == [])
        let before = record
        #expect(Self.crossings(&record, Self.fix(true, 10)) == nil)
        #expect(Self.crossings(&record, Self.fix(true, 9)) == nil)
        #expect(record == before)
        #expect(Self.crossings(&record, Self.fix(true, 11)) == ["shop"])
    }

    @Test("each device has its own side and its own time")
    func devices() {
        var record = Self.record()
        #expect(Self.crossings(&record, Self.fix(false, 10)) == [])
        // The first fix of the other device, earlier and on the other side, is no crossing.
        #expect(Self.crossings(&record, Self.fix(true, 5, "watch")) == [])
        #expect(Self.crossings(&record, Self.fix(true, 11)) == ["shop"])
        #expect(Self.crossings(&record, Self.fix(false, 6, "watch")) == ["shop"])
    }

    @Test("the device with the oldest fix is forgotten at the bound, and begins as a new one")
    func bound() {
        var record = Self.record()
        for number in 0...ModelLimits.locatedDevices {
            #expect(Self.crossings(&record, Self.fix(false, Int64(number), "d\(number)")) == [])
        }
        #expect(record.devices.count == ModelLimits.locatedDevices)
        #expect(record.regions.allSatisfy { $0.sides.count == ModelLimits.locatedDevices })
        #expect(!record.devices.contains { $0.device == "d0" })
        #expect(Self.crossings(&record, Self.fix(true, 1_000, "d1")) == ["shop"])
        #expect(Self.crossings(&record, Self.fix(true, 1_001, "d0")) == [])
    }

    @Test("another request of the identifier begins without sides; the same one keeps them")
    func replaced() {
        var record = Self.record()
        _ = record.locate(Self.fix(false, 1))
        let changed = [
            record.wait(for: Self.both, "shop", StateSamples.uuid(1)),
            record.wait(for: Self.both, "other", StateSamples.uuid(2)),
        ]
        #expect(changed == [false, true])
        #expect(Self.crossings(&record, Self.fix(true, 2)) == ["shop"])
        let isReplaced = record.wait(for: Self.both, "shop", StateSamples.uuid(3))
        #expect(isReplaced)
        #expect(Self.crossings(&record, Self.fix(false, 3)) == ["other"])
        #expect(Self.crossings(&record, Self.fix(true, 4)) == ["shop", "other"])
        let isForgotten = [record.forgetRegion(of: "shop"), record.forgetRegion(of: "shop")]
        #expect(isForgotten == [true, false])
        #expect(Self.crossings(&record, Self.fix(false, 5)) == ["other"])
        // The times of the devices stay.
        _ = record.forgetRegion(of: "other")
        #expect(record.regions.isEmpty && !record.isEmpty)
    }

    @Test("a record without regions is written as an older version writes it")
    func form() throws {
        var record = RecipientRecord()
        #expect(text(record.json).hasPrefix(#"{"form":1,"#))
        _ = record.wait(for: Self.both, "shop", StateSamples.uuid(1))
        #expect(text(record.json).hasPrefix(#"{"form":4,"#))
        _ = record.locate(Self.fix(false, 1))
        #expect(try RecipientRecord(json: record.json) == record)
    }
}

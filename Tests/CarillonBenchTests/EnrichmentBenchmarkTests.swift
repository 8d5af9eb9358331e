import Foundation
import Kafka
import NotificationEnrichment
import Testing

@testable import CarillonBench

@Suite("The benchmark of enrichment")
struct EnrichmentBenchmarkTests {
    @Test(
        "an image is a whole PNG, and nearly as large as wanted",
        arguments: [8_000, 50_000, 65_535, 131_072, 1_000_000]
    )
    func image(_ bytes: Int) throws {
        let image = PNGImage.bytes(7, bytes: bytes)
        #expect(image.count <= bytes && image.count >= bytes - PNGImage.mostMissing)
        var inspector = MediaInspector(.init(mimeType: "image/png"), .init())
        try image.withUnsafeBytes { try inspector.consume($0) }
        let facts = try inspector.finish()
        #expect(facts.bytes == Int64(image.count) && facts.width == 1_000)
    }

    @Test("images of different numbers are as long, and have different bytes; the same number gives the same image")
    func different() {
        let images = (0..<20).map { PNGImage.bytes($0, bytes: 20_000) }
        #expect(Set(images).count == 20 && Set(images.map(\.count)).count == 1)
        #expect(PNGImage.bytes(3, bytes: 20_000) == images[3])
    }

    @Test("nginx has the files with TLS on loopback, on one worker")
    func configuration() throws {
        let workbench = try Workbench(in: nil)
        let files = try TestCertificate(on: workbench)
        let text = Nginx.configuration(.files(in: "/tmp/i", port: 8_444, files), port: 8_099, folder: "/tmp/a")
        for part in [
            "worker_processes 1;", "listen 127.0.0.1:8444 ssl", "ssl_certificate \(files.certificate);",
            "ssl_certificate_key \(files.key);", "root /tmp/i;", "access_log off;",
        ] { #expect(text.contains(part), "\(part)") }
        #expect(!Nginx.configuration(.plain, port: 8_099, folder: "/tmp/a").contains("ssl"))
    }

    @Test("the rates of rounds are those of the median round, each by itself")
    func median() throws {
        let rates = [(100, 2.0), (300, 1.0), (200, 3.0)].map {
            TransferRate($0, in: .seconds(2), cpuSeconds: $1)
        }
        let median = try #require(TransferRate(medianOf: rates))
        #expect(median.perSecond == 100 && median.cpuSecondsPerThousand == 15)
        #expect(TransferRate(medianOf: []) == nil)
    }

    @Test("work in the background has its value, or its failure")
    func background() async throws {
        try await KafkaThread.run(name: "benchmark") { () throws in
            let work = BackgroundWork { 7 }
            #expect(try work.value() == 7)
            #expect(try work.value() == 7 && work.outcome?.get() == 7)
            #expect(throws: BenchmarkError.self) { try BackgroundWork { throw BenchmarkError("no") }.value() }
        }
    }
}

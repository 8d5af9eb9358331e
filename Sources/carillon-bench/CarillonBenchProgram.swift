import ArgumentParser
import CarillonBench

/// `carillon-bench`: all of it is in the library `CarillonBench`.
@main
enum CarillonBenchProgram {
    static func main() async { await BenchCommand.main() }
}

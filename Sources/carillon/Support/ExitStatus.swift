import ArgumentParser
import ServiceSupport

/// The exit statuses of the commands; those of sysexits.h where possible.
enum ExitStatus {
    /// An operation was refused or failed.
    static let failed: Int32 = 1
    /// EX_USAGE, as in ArgumentParser.
    static let usage: Int32 = 64
    /// EX_DATAERR: the data to send is invalid.
    static let badData: Int32 = 65
    /// EX_NOINPUT: a file or a topic is missing.
    static let noInput: Int32 = 66
    /// EX_UNAVAILABLE: no broker, service, server of a medium or APNs answered in time.
    static let unavailable: Int32 = 69
    /// EX_CONFIG: invalid settings of a service.
    static let settings = ServiceMain.configurationStatus

    /// Ended by a signal, in the shells' convention: 130 for Ctrl-C.
    static func ended(by signal: Int32) -> Int32 { 128 + signal }

    /// For `--help`.
    static let help = """
        Exit status:
          0    done
          1    something failed or was refused
          64   invalid usage
          65   invalid data
          66   a file or a topic is missing
          69   no broker, service, server of a medium or APNs answered in time
          78   invalid settings of a service
          130  ended by Ctrl-C

        Completions for a shell (bash, zsh, fish):
          carillon --generate-completion-script bash
        """
}

/// Why a command failed: printed once on standard error, with the remedy.
struct CommandFailure: Error, Hashable, CustomStringConvertible {
    var description: String
    var status: Int32

    init(_ description: String, status: Int32) {
        self.description = description
        self.status = status
    }

    /// Runs a command's body; prints a failure and converts it to the exit status.
    static func told(by command: String, _ body: () async throws -> Void) async throws {
        Terminal.ignoreBrokenPipes()
        do {
            try await body()
        } catch let failure as CommandFailure {
            Terminal.writeError("\(command): \(failure)\n")
            throw ExitCode(failure.status)
        }
    }
}

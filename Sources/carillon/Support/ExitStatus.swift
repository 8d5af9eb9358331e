import ArgumentParser

/// The exit statuses of the commands, those of sysexits.h where it has one.
enum ExitStatus {
    /// Something was refused or failed while the command ran.
    static let failed: Int32 = 1
    /// EX_USAGE, as ArgumentParser has it.
    static let usage: Int32 = 64
    /// EX_DATAERR: what was to be sent is wrong.
    static let badData: Int32 = 65
    /// EX_NOINPUT: the file or the topic is not there.
    static let noInput: Int32 = 66
    /// EX_UNAVAILABLE: no broker answered in time.
    static let unavailable: Int32 = 69

    /// Ended by a signal, as shells count: 130 for Ctrl-C.
    static func ended(by signal: Int32) -> Int32 { 128 + signal }

    /// For `--help`.
    static let help = """
        Exit status:
          0    done
          1    something failed, or a broker refused it
          64   wrong usage
          65   wrong data
          66   a file or a topic is not there
          69   no broker answered in time
          78   wrong settings of a service
          130  ended by Ctrl-C

        Completions for a shell (bash, zsh, fish):
          carillon --generate-completion-script bash
        """
}

/// Why a command could not do its work: said once on standard error, in words that say what to do.
struct CommandFailure: Error, Hashable, CustomStringConvertible {
    var description: String
    var status: Int32

    init(_ description: String, status: Int32) {
        self.description = description
        self.status = status
    }

    /// Runs a command's body; a failure is told and becomes the exit status.
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

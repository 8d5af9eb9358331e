/// Dimensions that wait for a cure.
enum Gates {
    static let judgesByClock = false
}

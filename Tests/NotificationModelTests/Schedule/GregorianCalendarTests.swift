import Testing

@testable import NotificationModel

@Suite("The Gregorian calendar")
struct GregorianCalendarTests {
    @Test("every day of 400 years, by counting")
    func counting() {
        // 2000-01-01 was a Saturday in week 52 of 1999.
        var (year, month, day): (Int64, Int64, Int64) = (2000, 1, 1)
        var number: Int64 = 10_957
        var (weekday, weekYear, week): (Int64, Int64, Int64) = (7, 1999, 52)
        let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var wrong: [Int64] = []
        for _ in 0..<146_097 {
            let isRight =
                GregorianCalendar.day(year, month, day) == number && GregorianCalendar.weekday(of: number) == weekday
                && GregorianCalendar.weekYear(of: number) == weekYear
                && (number - GregorianCalendar.firstMonday(ofWeekYear: weekYear)) / 7 + 1 == week
            if !isRight { wrong.append(number) }
            number += 1
            day += 1
            let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
            if day > lengths[Int(month) - 1] + (isLeap && month == 2 ? 1 : 0) { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
            weekday = weekday % 7 + 1
            if weekday == 2 {
                week += 1
                // Week 1 has the year's first Thursday, so it begins from 29 December to 4 January.
                if month == 12 && day >= 29 || month == 1 && day <= 4 {
                    (weekYear, week) = (month == 12 ? year + 1 : year, 1)
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
        #expect(number == GregorianCalendar.day(2400, 1, 1))
        #expect((weekday, weekYear, week) == (7, 2399, 52))
    }

    @Test("week 1 of a month is the first with four days or more")
    func months() {
        for first in GregorianCalendar.day(2020, 1, 1)..<GregorianCalendar.day(2030, 1, 1)
        where Timestamp.date(ofDay: first).day == 1 {
            let monday = first + GregorianCalendar.firstMonday(ofMonthBeginning: first)
            #expect(GregorianCalendar.weekday(of: monday) == 2)
            #expect((4...7).contains(monday + 7 - first) || (0...3).contains(monday - first))
        }
    }

    @Test("local times read as they are written")
    func text() {
        #expect(LocalDateTime(seconds: 0).description == "1970-01-01T00:00:00")
        #expect(LocalDateTime(seconds: -1).description == "1969-12-31T23:59:59")
        #expect(LocalDateTime(seconds: -62_167_219_201).description == "-0001-12-31T23:59:59")
    }
}

///usr/bin/env jbang "$0" "$@" ; exit $?
//DEPS org.apache.commons:commons-csv:1.14.1
// A JBang script with a library: what an account's CSV file (data/account.csv, or the one it is given) says was spent,
// by month and category, as a table in out/spending.md. The same input gives the same file, so it may run twice.

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;

public class spending {

    private static final CSVFormat FORMAT =
        CSVFormat.DEFAULT.builder().setDelimiter(';').setHeader().setSkipHeaderRecord(true).get();

    private static final BigDecimal NOTHING = new BigDecimal("0.00");

    public static void main(String... args) throws IOException {
        Path from = Path.of(args.length > 0 ? args[0] : "data/account.csv");
        Path to = Path.of("out", "spending.md");
        Map<String, Map<String, BigDecimal>> months = new TreeMap<>();
        try (var rows = FORMAT.parse(Files.newBufferedReader(from))) {
            rows.forEach(row -> add(months, row));
        }
        // Written beside its place and moved there: nobody ever reads half of it.
        Files.createDirectories(to.getParent());
        Path part = Files.writeString(to.resolveSibling("spending.part"), table(months));
        Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
        BigDecimal all = months.values().stream().map(spending::sum).reduce(NOTHING, BigDecimal::add);
        System.out.println(all + " spent in " + months.size() + " months, see " + to);
    }

    private static void add(Map<String, Map<String, BigDecimal>> months, CSVRecord row) {
        BigDecimal amount = new BigDecimal(row.get("Amount").replace(".", "").replace(',', '.'));
        if (amount.signum() < 0) {
            months.computeIfAbsent(row.get("Date").substring(0, 7), m -> new TreeMap<>())
                .merge(row.get("Category"), amount.negate(), BigDecimal::add);
        }
    }

    private static String table(Map<String, Map<String, BigDecimal>> months) {
        TreeSet<String> categories = new TreeSet<>();
        months.values().forEach(spent -> categories.addAll(spent.keySet()));
        StringBuilder text = new StringBuilder("| Month | " + String.join(" | ", categories) + " | Sum |\n|---|" + "--:|".repeat(categories.size() + 1) + "\n");
        months.forEach((month, spent) -> {
            text.append("| ").append(month).append(" | ");
            categories.forEach(c -> text.append(spent.getOrDefault(c, NOTHING)).append(" | "));
            text.append(sum(spent)).append(" |\n");
        });
        return text.toString();
    }

    private static BigDecimal sum(Map<String, BigDecimal> spent) {
        return spent.values().stream().reduce(NOTHING, BigDecimal::add);
    }
}

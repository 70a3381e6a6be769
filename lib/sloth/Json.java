package sloth;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as it stands in the file: argument vectors and the details of events. Written and read token by token, since a
 * Gson that looks types over by reflection takes 40 ms to load, at the start of each command.
 */
final class Json {

    private interface Reading<T> {
        T from(JsonReader in) throws IOException;
    }

    private Json() {
    }

    /** @param value null, a string, number or boolean, or a collection or map of such */
    static String text(Object value) {
        StringWriter text = new StringWriter();
        try {
            write(new JsonWriter(text), value);
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
        return text.toString();
    }

    private static void write(JsonWriter out, Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            out.beginObject();
            for (Map.Entry<?, ?> member : map.entrySet()) {
                write(out.name((String) member.getKey()), member.getValue());
            }
            out.endObject();
        } else if (value instanceof Collection<?> elements) {
            out.beginArray();
            for (Object element : elements) {
                write(out, element);
            }
            out.endArray();
        } else if (value instanceof Number number) {
            out.value(number);
        } else if (value instanceof Boolean bool) {
            out.value(bool);
        } else {
            out.value((String) value);
        }
    }

    /** @throws IllegalArgumentException when it is not an array of strings */
    static List<String> strings(String json) {
        return read(json, "an array of strings", in -> {
            List<String> strings = new ArrayList<>();
            in.beginArray();
            while (in.hasNext()) {
                strings.add(in.nextString());
            }
            in.endArray();
            return List.copyOf(strings);
        });
    }

    /** @throws IllegalArgumentException when it is not an object */
    static Map<String, Object> object(String json) {
        return read(json, "an object", Json::members);
    }

    private static Map<String, Object> members(JsonReader in) throws IOException {
        Map<String, Object> members = new LinkedHashMap<>();
        in.beginObject();
        while (in.hasNext()) {
            members.put(in.nextName(), value(in));
        }
        in.endObject();
        return members;
    }

    private static List<Object> elements(JsonReader in) throws IOException {
        List<Object> elements = new ArrayList<>();
        in.beginArray();
        while (in.hasNext()) {
            elements.add(value(in));
        }
        in.endArray();
        return elements;
    }

    private static Object value(JsonReader in) throws IOException {
        return switch (in.peek()) {
            case BEGIN_OBJECT -> members(in);
            case BEGIN_ARRAY -> elements(in);
            case NUMBER -> number(in.nextString());
            case BOOLEAN -> in.nextBoolean();
            case NULL -> {
                in.nextNull();
                yield null;
            }
            default -> in.nextString();
        };
    }

    private static Number number(String digits) {
        try {
            return Long.valueOf(digits);
        } catch (NumberFormatException e) {
            return Double.valueOf(digits);
        }
    }

    private static <T> T read(String json, String what, Reading<T> reading) {
        try {
            JsonReader in = new JsonReader(new StringReader(json));
            T value = reading.from(in);
            if (in.peek() == JsonToken.END_DOCUMENT) {
                return value;
            }
        } catch (IOException | IllegalStateException | NullPointerException e) {
            // It is not what was asked for.
        }
        throw new IllegalArgumentException("not " + what + ": " + json);
    }
}

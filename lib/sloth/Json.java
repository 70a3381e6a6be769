package sloth;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonSyntaxException;
import com.google.gson.ToNumberPolicy;
import com.google.gson.reflect.TypeToken;
import java.util.List;
import java.util.Map;

/** JSON as it stands in the file: argument vectors and the details of events. */
final class Json {

    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().serializeNulls()
        .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE).create();
    private static final TypeToken<List<String>> STRINGS = new TypeToken<>() { };
    private static final TypeToken<Map<String, Object>> OBJECT = new TypeToken<>() { };

    private Json() {
    }

    static String strings(List<String> list) {
        return GSON.toJson(list);
    }

    /** @throws IllegalArgumentException when it is not an array of strings */
    static List<String> strings(String json) {
        try {
            return List.copyOf(GSON.fromJson(json, STRINGS));
        } catch (JsonSyntaxException | NullPointerException e) {
            throw new IllegalArgumentException("not an array of strings: " + json);
        }
    }

    static String object(Map<String, Object> detail) {
        return GSON.toJson(detail);
    }

    static Map<String, Object> object(String json) {
        return GSON.fromJson(json, OBJECT);
    }

    static String text(Object value) {
        return GSON.toJson(value);
    }
}
